"""What Prometheus is told: by a coordinator and two workers, one of whose processes is killed; the alerts, in a real
Prometheus."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cluster import Cluster, Service, until
from farthest.documents.figures import READ
from farthest.metrics import COUNTED, SOLVE_SECONDS
from figure_table import PAGE, renewed, told
from servers import RedisServer

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "monitoring"
NAME = re.compile(r"\bfarthest_[a-z_]+")

Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def scrape(service: Service) -> str:
    """What a service answers."""
    said = until(lambda: re.search(r"metrics: (http://\S+)", service.said()), 30, "its address is told")
    with urlopen(said[1], timeout=10) as answer:
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
def cluster(redis_server: RedisServer, tmp_path: Path) -> Iterator[Cluster]:
    """A coordinator that sends every layer to workers; every step takes a while."""
    redis_server.flush()
    environment = {
        "SMALL_LAYER_STATES": 0,
        "BLOCK_SIZE": "2KiB",
        "LEASE_SECONDS": 2.5,
        "METRICS_ADDRESS": "127.0.0.1:0",
        "LOG_FORMAT": "json",
    }
    database = f"sqlite:///{tmp_path}/jobs.db"
    with Cluster(tmp_path / "cluster", redis_server.url, database, environment, delay=0.05) as cluster:
        cluster.add_coordinator()
        yield cluster


def test_the_page_has_all_figures_and_says_what_to_do() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text
    assert all(row[-1] for row in told(text).values())


@pytest.mark.slow
def test_a_job_with_two_workers_one_process_killed(cluster: Cluster) -> None:
    """The states that all have counted are those of the job, although a process was killed."""
    for _ in range(2):
        cluster.add_worker()
    cluster.ready()
    job = cluster.submit("8-puzzle")
    coordinator, (first, second) = cluster.coordinators[0], cluster.workers
    until(lambda: total(samples(scrape(first)), "farthest_states_total") > 20 or None, 30, "it steps", 0.05)
    busy = "farthest_worker_processes_busy"
    until(lambda: total(samples(scrape(first)), busy) or None, 30, "it is in a step")
    first.kill_child()
    until(
        lambda: total(samples(scrape(coordinator)), "farthest_messages_resent_total") or None,
        30,
        "the step is sent again",
        0.1,
    )
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
