"""docker-compose.yml is valid, safe, and says the same as the settings and the Dockerfile."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from deployment.compose import FILE, PASSWORDS, ROOT, Service, config, services
from farthest import environment
from farthest.environment import SETTINGS, byte_count
from farthest.tracing import ASKED_BY

FARTHEST = ("migrate", "coordinator", "worker", "web", "flower")
IMAGE_VARIABLES = {
    "redis": {"REDISCLI_AUTH"},
    "postgres": {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"},
}
STEP_MEMORY = 256 << 20
"""What a process of a worker takes beyond FARTHEST_WORKER_MEMORY: Python, and the blocks of the step under way."""

PARENT_MEMORY = 128 << 20
REDIS_UNITS = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}


@pytest.fixture(scope="module")
def all_services() -> dict[str, Service]:
    return services("monitoring", "web")


def test_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(FILE)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stdout


def test_services(all_services: dict[str, Service]) -> None:
    assert set(all_services) == {"redis", "postgres", *FARTHEST}
    assert set(services()) == set(all_services) - {"flower", "web"}


@pytest.mark.parametrize("name", sorted(PASSWORDS))
def test_a_missing_password_is_told(name: str) -> None:
    given = {other: value for other, value in PASSWORDS.items() if other != name}
    for variables in (given, given | {name: ""}):
        with pytest.raises(ValueError, match=f"write {name} into .env"):
            services(variables=variables)


@pytest.mark.parametrize("name", sorted(PASSWORDS))
def test_compose_tells_of_a_missing_password(name: str) -> None:
    given = {other: value for other, value in PASSWORDS.items() if other != name}
    for variables in (given, given | {name: ""}):
        result = config(variables=variables)
        assert f"write {name} into .env" in result.stderr
        assert not result.stdout


def test_passwords_are_in_the_environment_alone(all_services: dict[str, Service]) -> None:
    for service in all_services.values():
        words = [*service.command, *(service.health_command if "healthcheck" in service.raw else [])]
        assert not any(password in word for word in words for password in PASSWORDS.values())
    assert PASSWORDS["POSTGRES_PASSWORD"] not in str(all_services["flower"].raw)


def test_the_number_of_workers_is_kept() -> None:
    """It is in the file, so that an `up` for something else, such as Flower, does not change it."""
    for variables, number in ((PASSWORDS, 1), (PASSWORDS | {"WORKERS": "8"}, 8)):
        worker = services(variables=variables)["worker"].raw
        assert worker["scale"] == number
        assert "deploy" not in worker


def test_any_number_of_workers_and_coordinators(all_services: dict[str, Service]) -> None:
    for name in ("worker", "coordinator"):
        raw = all_services[name].raw
        assert not {"ports", "hostname"} & raw.keys()
    assert not any("container_name" in service.raw for service in all_services.values())


def test_hardened(all_services: dict[str, Service]) -> None:
    for service in all_services.values():
        raw = service.raw
        assert raw["read_only"] is True
        assert raw["init"] is True
        assert raw["cap_drop"] == ["ALL"]
        assert "cap_add" not in raw
        assert raw["security_opt"] == ["no-new-privileges:true"]
        assert raw["mem_limit"]
        assert raw["memswap_limit"] == raw["mem_limit"]  # no swap
        assert raw["stop_grace_period"]
        assert not {"privileged", "network_mode", "pid", "devices"} & raw.keys()
        for port in raw.get("ports", []):
            assert port["host_ip"] == "127.0.0.1"
        if service.name not in FARTHEST:  # the image of farthest names its user itself
            assert raw["user"].split(":")[0] != "0"


def test_one_image_built_once(all_services: dict[str, Service]) -> None:
    assert [name for name in all_services if "build" in all_services[name].raw] == ["migrate"]
    assert {all_services[name].raw["pull_policy"] for name in FARTHEST} == {"never"}
    assert {all_services[name].raw["image"] for name in FARTHEST} == {"farthest:latest"}
    released = services(variables=PASSWORDS | {"FARTHEST_VERSION": "1.2"})
    assert released["worker"].raw["image"] == "farthest:1.2"


def test_start_order(all_services: dict[str, Service]) -> None:
    assert all_services["migrate"].dependencies == {"postgres": "service_healthy"}
    assert all_services["coordinator"].dependencies == {
        "migrate": "service_completed_successfully",
        "redis": "service_healthy",
        "postgres": "service_healthy",
    }
    assert all_services["worker"].dependencies == {
        "migrate": "service_completed_successfully",
        "redis": "service_healthy",
    }
    for service in all_services.values():
        assert ("healthcheck" in service.raw) == (service.name != "migrate")
        assert service.raw["restart"] == ("no" if service.name == "migrate" else "unless-stopped")


def test_what_is_kept(all_services: dict[str, Service]) -> None:
    kept = {
        name: {volume["target"] for volume in service.raw.get("volumes", [])}
        for name, service in all_services.items()
    }
    assert kept["postgres"] == {
        "/var/lib/postgresql"
    }  # the image's parent of the data folder, from version 18 on
    page = (ROOT / "docs/many-machines.md").read_text(encoding="utf-8")
    [blobs] = re.findall(r"FARTHEST_BLOBS=file://(/\S+)`", page)
    scratch, maps = (
        all_services["coordinator"].environment[name] for name in ("FARTHEST_SCRATCH", "FARTHEST_MAPS")
    )
    assert kept["coordinator"] == {scratch, blobs, maps}
    assert kept["worker"] == {blobs, maps, scratch, all_services["worker"].environment["FARTHEST_TABLES"]}
    assert kept["web"] == {maps}
    assert not any(kept[name] for name in ("redis", "migrate", "flower"))
    for name in ("worker", "web"):  # which only read maps
        assert [
            volume["target"] for volume in all_services[name].raw["volumes"] if volume.get("read_only")
        ] == [maps]


def test_every_variable_is_a_setting(all_services: dict[str, Service]) -> None:
    names = {setting.name for setting in SETTINGS}
    for service in all_services.values():
        allowed = IMAGE_VARIABLES.get(service.name, names | {ASKED_BY[1]})
        assert set(service.environment) <= allowed, service.name


def test_every_setting_is_given_to_a_service(all_services: dict[str, Service]) -> None:
    given = {
        name
        for service in all_services.values()
        for name in service.environment
        if name.startswith("FARTHEST_")
    }
    assert given == {setting.name for setting in SETTINGS}
    worker, coordinator = (all_services[name].environment for name in ("worker", "coordinator"))
    shared = {
        environment.REDIS_URL,
        environment.REDIS_NODES,
        environment.BLOBS,
        environment.LEASE_SECONDS,
        environment.LOG_LEVEL,
        environment.LOG_FORMAT,
        environment.METRICS_ADDRESS,
    }
    for setting in shared:
        assert worker[setting.name] == coordinator[setting.name]
    assert worker[environment.DATABASE_URL.name] == coordinator[environment.DATABASE_URL.name]


def test_settings_of_the_user_arrive() -> None:
    """What is set in .env reaches the services that have the setting; what is not set stays with its default."""
    composed = {
        environment.DATABASE_URL,
        environment.REDIS_URL,
        environment.SCRATCH,
        environment.METRICS_ADDRESS,
    }
    names = [setting.name for setting in SETTINGS if setting not in composed]
    set_up = services(variables=PASSWORDS | {name: f"value of {name}" for name in names})
    for service in set_up.values():
        for name in set(names) & service.environment.keys():
            assert service.environment[name] == f"value of {name}"


def test_memory_of_redis(all_services: dict[str, Service]) -> None:
    redis = all_services["redis"]
    script = redis.command[-1]
    match = re.search(r"--maxmemory (\d+)([kmg]b) ", script)
    assert match
    most = int(match[1]) * REDIS_UNITS[match[2]]
    assert most * 5 // 4 + (128 << 20) <= redis.memory
    assert '--save "" --appendonly no' in script
    assert "--maxmemory-policy noeviction" in script


def test_memory_of_a_worker(all_services: dict[str, Service]) -> None:
    worker = all_services["worker"]
    kept = byte_count(worker.environment["FARTHEST_WORKER_MEMORY"])
    assert kept is not None
    processes = int(worker.environment["FARTHEST_CONCURRENCY"])
    assert worker.environment["FARTHEST_WORKER_MEMORY"] == environment.WORKER_MEMORY.default
    assert processes * (kept + STEP_MEMORY) + PARENT_MEMORY <= worker.memory


def test_the_example_lists_every_variable(all_services: dict[str, Service]) -> None:
    text = FILE.read_text(encoding="utf-8")
    used = dict(re.findall(r"\$\{([A-Z_]+)(?::[-?]([^}]*))?\}", text))
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", example, flags=re.MULTILINE))
    assert listed.pop("COMPOSE_PROFILES") == ""  # which Compose itself reads
    assert set(listed) == set(used)
    for name, value in listed.items():
        assert value == ("" if name in PASSWORDS else used[name]), name
    # With the passwords as they are in the example, empty, nothing starts.
    assert re.findall(r"^([A-Z_]+)=", example, flags=re.MULTILINE) == sorted(PASSWORDS)


def test_git_keeps_no_secrets() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/.env" in ignored
    assert Path(ROOT / ".env.example").exists()
