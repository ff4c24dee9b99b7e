"""What Prometheus is told: by a coordinator and two workers, one of whose processes is killed; the alerts, in a real
Prometheus."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from cluster import Cluster, Service, until
from farthest.documents.figures import READ
from farthest.environment import METRICS_ADDRESS
from farthest.errors import SettingError
from farthest.metrics import COUNTED, SOLVE_SECONDS, listen
from farthest.models.database import open_database
from farthest.models.records import KINDS, STATUSES
from farthest.web.app import application
from farthest.web.gate import WebSettings
from figure_table import PAGE, renewed, told
from server_process import free_port
from servers import RedisServer

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "monitoring"
NAME = re.compile(r"\bfarthest_[a-z_]+")

Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def address(service: Service) -> str:
    """Where a service answers."""
    said = until(lambda: re.search(r"metrics: (http://[\w.:]+/metrics)", service.said()), 30, "it listens")
    return said[1]


def scrape(service: Service) -> str:
    """What a service answers."""
    with urlopen(address(service), timeout=10) as answer:
        assert answer.headers["content-type"].startswith("text/plain")
        return str(answer.read().decode())


def samples(text: str) -> Samples:
    """By name, the values by labels."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            found.setdefault(one.name, {})[tuple(sorted(one.labels.items()))] = one.value
    return found


def total(found: Samples, name: str, **labels: str) -> float:
    wanted = set(labels.items())
    return sum(value for given, value in found.get(name, {}).items() if wanted <= set(given))


@pytest.fixture
def cluster(redis_server: RedisServer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A coordinator that sends every layer to workers; every step takes so many seconds more."""
    redis_server.flush()
    environment = {
        "SMALL_LAYER_STATES": 0,
        "BLOCK_SIZE": "2KiB",
        "LEASE_SECONDS": 2.5,
        "METRICS_ADDRESS": "127.0.0.1:0",
        "LOG_FORMAT": "json",
    }
    database = f"sqlite:///{tmp_path}/jobs.db"
    with Cluster(
        tmp_path / "cluster", redis_server.url, database, environment, delay=request.param
    ) as cluster:
        cluster.add_coordinator()
        yield cluster


def test_the_page_has_all_figures_and_says_what_to_do() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text
    assert all(row[-1] for row in told(text).values())


def _killed_in_a_step(worker: Service, coordinator: Service) -> float | None:
    """Kills the worker's process: how many messages were sent again then; None where its step had just ended."""
    busy, resent = "farthest_worker_processes_busy", "farthest_messages_resent_total"
    until(lambda: total(samples(scrape(worker)), busy) or None, 30, "it is in a step")
    worker.kill_child()
    with suppress(AssertionError):
        return until(
            lambda: total(samples(scrape(coordinator)), resent) or None, 8, "the step is sent again", 0.1
        )
    return None


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [0.05], indirect=True)
def test_a_job_with_two_workers_one_process_killed(cluster: Cluster) -> None:
    """The states that all have counted are those of the job, although a process was killed."""
    for _ in range(2):
        cluster.add_worker()
    cluster.ready()
    job = cluster.submit("8-puzzle")
    coordinator, (first, second) = cluster.coordinators[0], cluster.workers
    until(lambda: total(samples(scrape(first)), "farthest_states_total") > 20 or None, 30, "it steps", 0.05)
    until(lambda: _killed_in_a_step(first, coordinator), 60, "the step of a killed process is sent again")
    during = samples(scrape(coordinator))
    assert total(during, "farthest_job_info", job_id=str(job), puzzle="8-puzzle") == 1
    assert total(during, "farthest_jobs", status="running") == 1
    result = cluster.wait(job)
    texts = [scrape(service) for service in (coordinator, first, second)]
    found = [samples(text) for text in texts]
    assert sum(total(one, "farthest_states_total") for one in found) == sum(result.layers) - result.layers[0]
    assert total(found[0], "farthest_leases_lost_total", kind="step") >= 1
    assert total(found[0], "farthest_jobs", kind="enumeration", status="finished") == 1
    assert total(found[0], "farthest_workers") == 2
    for worker in found[1:]:
        assert total(worker, "farthest_worker_processes") == 1
        assert total(worker, "farthest_worker_processes_busy") == 0
        assert total(worker, "farthest_work_seconds_count", kind="step", result="done") > 10
        assert total(worker, "farthest_blob_bytes_total", direction="written") > 0
    # Every figure is told, and those that alerts and the dashboard ask for are among them.
    told = set().union(*found, *(during,))
    searches = {"farthest_job_nodes", SOLVE_SECONDS.name}
    for figure in (*COUNTED, *READ):
        name = f"{figure.name}_count" if figure.kind == "histogram" else figure.full_name
        assert name in told or figure.name in searches, name
    for file in ("alerts.yml", "dashboard.json"):
        assert set(NAME.findall((MONITORING / file).read_text(encoding="utf-8"))) <= told, file
    if shutil.which("promtool"):
        for text in texts:
            checked = subprocess.run(
                ["promtool", "check", "metrics"],
                input=text,
                capture_output=True,
                text=True,
                check=False,
                timeout=30,
            )
            assert checked.returncode == 0, checked.stdout + checked.stderr
    # The files with what was counted go with a worker, also with one that is killed; the log is JSON to its end.
    assert first.stop() == coordinator.stop() == 0
    os.kill(second.pid, signal.SIGKILL)
    until(lambda: not list(cluster.folder.glob("farthest-metrics-*")) or None, 10, "no files are left")
    lines = [json.loads(line) for service in cluster.services for line in service.said().splitlines()]
    assert {"time", "level", "logger", "message", "pid"} <= set.intersection(*map(set, lines))
    assert any(line.get("job") == job for line in lines)


class Prometheus:
    """A real Prometheus that asks services once a second; it ends with the block."""

    def __init__(self, folder: Path, limit: str) -> None:
        """``limit``: of the age of the oldest block, in seconds."""
        self.url = f"http://127.0.0.1:{free_port()}"
        self._targets = folder / "targets.json"
        self._targets.write_text("[]", encoding="utf-8")
        rules = (MONITORING / "alerts.yml").read_text(encoding="utf-8")
        (folder / "alerts.yml").write_text(rules.replace("_age_seconds) > 300", f"_age_seconds) > {limit}"))
        found = {
            "job_name": "farthest",
            "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}],
        }
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["alerts.yml"],
            "scrape_configs": [found],
        }
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
        with (folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address={self.url.removeprefix('http://')}",
                ],
                stdout=log,
                stderr=log,
            )

    def __enter__(self) -> Prometheus:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def watch(self, *services: Service) -> None:
        """Asks these from now on."""
        hosts = [urlsplit(address(service)).netloc for service in services]
        self._targets.with_suffix(".new").write_text(json.dumps([{"targets": hosts}]), encoding="utf-8")
        self._targets.with_suffix(".new").rename(self._targets)

    def ask(self, expression: str) -> float | None:
        """The sum of what an expression gives now; None where it gives nothing."""
        try:
            with urlopen(f"{self.url}/api/v1/query?{urlencode({'query': expression})}", timeout=10) as answer:
                found = json.load(answer)["data"]["result"]
        except URLError:  # it begins
            return None
        return sum(float(one["value"][1]) for one in found) if found else None

    def fires(self, alert: str) -> bool:
        return self.ask(f'ALERTS{{alertname="{alert}", alertstate="firing"}}') is not None


@pytest.mark.night
@pytest.mark.parametrize("cluster", [0.5], indirect=True)  # layers that last longer than progress is told
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="Debian's package prometheus is not installed")
def test_alerts_of_a_real_prometheus(cluster: Cluster, tmp_path: Path) -> None:
    """The oldest block waits while no worker lives, and the alert ends when two have come; one of them is killed."""
    alert = "FarthestOldestBlockWaits"
    coordinator = cluster.coordinators[0]
    with Prometheus(tmp_path, "2") as prometheus:
        prometheus.watch(coordinator)
        job = cluster.submit("pancake-9", "--max-depth", "3")
        until(lambda: prometheus.fires(alert) or None, 30, "the alert fires", 0.2)
        age = prometheus.ask("max(farthest_job_oldest_block_age_seconds)")
        waiting = prometheus.ask('farthest_job_blocks{state="waiting"}')
        assert age is not None
        assert waiting is not None
        assert age > 2
        assert waiting
        assert waiting >= 1
        workers = [cluster.add_worker(), cluster.add_worker()]
        cluster.ready()
        prometheus.watch(coordinator, *workers)
        until(lambda: not prometheus.fires(alert) or None, 30, "the alert ends", 0.2)
        leased = 'max_over_time(farthest_job_blocks{state="leased"}[30s])'
        until(lambda: prometheus.ask(leased) or None, 30, "a block is leased", 0.2)
        busy = "farthest_worker_processes_busy"
        until(lambda: total(samples(scrape(workers[0])), busy) or None, 30, "it is in a step")
        workers[0].kill()
        until(lambda: prometheus.ask("sum(farthest_leases_lost_total)") or None, 30, "a lease is lost", 0.2)
        resent = prometheus.ask("sum(farthest_messages_resent_total)")
        rate = until(lambda: prometheus.ask("sum(rate(farthest_states_total[10s]))"), 10, "there is a rate")
        assert resent is not None
        assert resent >= 1
        assert rate > 0
        assert prometheus.ask("sum(up)") == 2
        cluster.wait(job)
        finished = 'farthest_jobs{kind="enumeration", status="finished"}'
        until(lambda: prometheus.ask(finished) or None, 30, "it is told that the job is finished", 0.2)
        print(
            f"oldest {age:.1f} s, {waiting:g} waiting, at most {prometheus.ask(leased):g} leased, "
            f"{prometheus.ask('sum(farthest_leases_lost_total)'):g} leases lost, {resent:g} sent again, "
            f"{rate:,.0f} states/s, {prometheus.ask('sum(max_over_time(farthest_states_total[2m]))'):,.0f} states"
        )


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package prometheus is not installed")
def test_the_files_for_prometheus() -> None:
    for words in (
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
    ):
        said = subprocess.run(
            ["promtool", *words], cwd=MONITORING, capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, said.stdout + said.stderr


def test_the_dashboard() -> None:
    """Grafana's own schema is not public; what it needs to draw each panel is there, and no two lie on each other."""
    board = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    places = set()
    for panel in board["panels"]:
        assert panel["targets"]
        assert panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        places.add((panel["gridPos"]["x"], panel["gridPos"]["y"]))
    assert len(places) == len(board["panels"]) == len({panel["id"] for panel in board["panels"]})


def test_the_explorer_tells_who_may_read(tmp_path: Path) -> None:
    file, found = str(tmp_path / "maps.db"), {}
    for token in ("", "a-token-of-some-length"):
        settings = WebSettings(database=file, token=token)
        app = application(open_database(file, create=True), settings)
        with TestClient(app, base_url="http://127.0.0.1:8080") as asked:
            bearer = {"authorization": f"Bearer {token}"}
            found[bool(token)] = asked.get("/metrics"), asked.get("/metrics", headers=bearer)
    assert [answer.status_code for answer in found[False]] == [200, 200]
    assert [answer.status_code for answer in found[True]] == [401, 200]
    told = samples(found[True][1].text)
    assert total(told, "farthest_database_up") == 1
    assert total(told, "farthest_solve_seconds_count") == 0
    assert "farthest_redis_up" not in told  # it was started without Redis
    assert len(told["farthest_jobs"]) == len(KINDS) * len(STATUSES)


@pytest.mark.parametrize("address", ["here", "70000", "host:", "::1:9464", "9464 9465"])
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv(METRICS_ADDRESS.name, address)
    with pytest.raises(SettingError, match=r"FARTHEST_METRICS_ADDRESS is .*; expected a port, such as 9464"):
        listen()


def test_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv(METRICS_ADDRESS.name, str(taken.getsockname()[1]))
        with pytest.raises(SettingError, match=r"FARTHEST_METRICS_ADDRESS is .*: cannot listen there"):
            listen()
