"""The manifests in kubernetes/ are valid, as safe as docker-compose.yml, and say the same."""

from __future__ import annotations

import copy
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import ValidationError

from deployment.compose import PASSWORDS, ROOT, Service, seconds, services
from deployment.dockerfile import read_stages
from deployment.manifests import FOLDER, Manifest, built, check, named, pods, settings, written
from farthest.environment import SETTINGS, byte_count
from farthest.version import __version__

SECRET = {"FARTHEST_DATABASE_URL", "FARTHEST_REDIS_URL", "FARTHEST_WEB_TOKEN"}
OLDEST, NEWEST = "1.31", "1.37"


@pytest.fixture(scope="module")
def manifests() -> list[Manifest]:
    return list(written("base", "keda", "example"))


@pytest.fixture(scope="module")
def composed() -> dict[str, Service]:
    return services("web")


@pytest.mark.parametrize("version", [pytest.param(OLDEST, marks=pytest.mark.slow), NEWEST])
def test_schema(manifests: list[Manifest], version: str) -> None:
    for manifest in [*manifests, *written("object-store", "shared-folder")]:
        check(manifest, version)
    assert f"Kubernetes {OLDEST} or newer" in page()


@pytest.mark.parametrize(
    ("kind", "name", "path", "wrong"),
    [
        ("Deployment", "worker", ("spec", "template", "spec"), {"terminationGracePeriodSecond": 30}),
        ("Deployment", "worker", ("spec",), {"replicas": "two"}),
        ("Job", "migrate", ("spec", "template", "spec", "containers", 0), {"readOnlyRootFilesystem": True}),
        ("NetworkPolicy", "nothing-else", ("spec",), {"policyType": ["Ingress"]}),
        ("PodDisruptionBudget", "worker", ("spec",), {"maxUnavailables": 1}),
        ("ScaledObject", "worker", ("spec",), {"minReplicas": 0}),
        ("ScaledObject", "worker", ("spec", "triggers", 0, "metadata"), {"targetQuery": "1"}),
        ("TriggerAuthentication", "database", ("spec", "secretTargetRef", 0), {"secret": "farthest"}),
    ],
)
def test_a_misspelt_field_is_an_error(
    manifests: list[Manifest], kind: str, name: str, path: tuple[str | int, ...], wrong: Manifest
) -> None:
    altered: Any = copy.deepcopy(named(manifests, kind, name))
    part = altered
    for step in path:
        part = part[step]
    part.update(wrong)
    with pytest.raises(ValidationError):
        check(altered, NEWEST)


def test_put_together(tmp_path: Path, composed: dict[str, Service]) -> None:
    """The example, as users have it, with both places of maps and blobs."""
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    example, *places = [
        str(Path("../" * len(overlay.parts), *(FOLDER / name).parts[1:]))
        for name in ("example", "object-store", "shared-folder")
    ]
    (overlay / "kustomization.yaml").write_text(
        f"resources: [{example}]\ncomponents: [{', '.join(places)}]\n", encoding="utf-8"
    )
    made = built(overlay)
    for manifest in made:
        assert manifest["kind"] == "Namespace" or manifest["metadata"]["namespace"] == "farthest"
    images = {container["image"] for pod in pods(made).values() for container in pod["containers"]}
    assert images == {f"registry.example/farthest:{__version__}", "redis:8", "postgres:18"}
    (of_settings,) = (one for one in made if one["kind"] == "ConfigMap")
    assert of_settings["data"] == settings() | {"FARTHEST_MAPS": "/var/lib/farthest/maps"}
    for name in ("coordinator", "worker", "web"):
        deployment = named(made, "Deployment", name)
        check(deployment, NEWEST)
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert container["envFrom"] == [
            {"configMapRef": {"name": of_settings["metadata"]["name"]}},
            {"secretRef": {"name": "object-store"}},
        ]
        mounts = {
            (mount["mountPath"], mount.get("readOnly", False))
            for mount in container["volumeMounts"]
            if mount["mountPath"] != "/tmp"
        }
        volumes = {(one["target"], one.get("read_only", False)) for one in composed[name].raw["volumes"]}
        own = {(settings()["FARTHEST_TABLES"], False)} if name == "coordinator" else set()
        assert mounts == volumes | own


def test_the_same_as_docker_compose(manifests: list[Manifest], composed: dict[str, Service]) -> None:
    made = pods(manifests)
    assert set(made) == set(composed)
    for name, pod in made.items():
        service = composed[name]
        (container,) = pod["containers"]
        assert container["image"] == service.raw["image"]
        assert container["args"] == [word.replace("$$", "$") for word in service.command]
        assert (
            "command" not in container
        )  # it would take the place of the entry points of Redis and PostgreSQL
        assert pod["terminationGracePeriodSeconds"] == service.grace
        memory = byte_count(container["resources"]["limits"]["memory"].removesuffix("i"))
        assert memory == service.memory
        assert container["resources"]["requests"]["memory"] == container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"]["cpu"]
        if name in ("redis", "postgres"):
            assert {one["name"] for one in container["env"]} == set(service.environment)
    assert pods(manifests)["worker"]["containers"][0]["resources"]["requests"]["cpu"] == "2"
    assert settings()["FARTHEST_CONCURRENCY"] == "2"


def test_health_is_readiness_and_kills_nothing(
    manifests: list[Manifest], composed: dict[str, Service]
) -> None:
    for name, pod in pods(manifests).items():
        (container,) = pod["containers"]
        assert not {"livenessProbe", "startupProbe"} & container.keys()
        if name == "migrate":
            continue
        probe, wanted = container["readinessProbe"], composed[name].raw["healthcheck"]
        assert (probe["periodSeconds"], probe["timeoutSeconds"]) == (wanted["interval"], wanted["timeout"])
        assert probe["failureThreshold"] == wanted["retries"]
        if name == "web":
            (port,) = container["ports"]
            assert probe["httpGet"]["port"] == port["name"]
            assert f":{port['containerPort']}{probe['httpGet']['path']}" in composed[name].health_command[-1]
        else:
            assert probe["exec"]["command"] == composed[name].health_command


def test_hardened(manifests: list[Manifest]) -> None:
    (user,) = read_stages()[-1].all("USER")
    for name, pod in pods(manifests).items():
        ids = (999, 999) if name in ("redis", "postgres") else tuple(map(int, user.text.split(":")))
        safe = pod["securityContext"]
        assert safe["runAsNonRoot"] is True
        assert (safe["runAsUser"], safe["runAsGroup"]) == ids
        assert safe.get("fsGroup", ids[1]) == ids[1]
        assert safe["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["shareProcessNamespace"] is True
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert not any("hostPath" in volume for volume in pod["volumes"])
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    labels = named(manifests, "Namespace", "farthest")["metadata"]["labels"]
    assert labels == {"pod-security.kubernetes.io/enforce": "restricted"}


def test_settings(manifests: list[Manifest], composed: dict[str, Service]) -> None:
    """Each pod has the secrets that its service has in docker-compose.yml; the settings are the same there."""
    known = {setting.name for setting in SETTINGS}
    assert known >= settings().keys() | SECRET
    for name, pod in pods(manifests).items():
        if name in ("redis", "postgres"):
            continue
        (container,) = pod["containers"]
        given = {one["name"] for one in container["env"]}
        environment = composed[name].environment
        assert given == SECRET & environment.keys()
        for variable in container["env"]:
            assert variable["valueFrom"]["secretKeyRef"] == {"name": "farthest", "key": variable["name"]}
        for setting in settings().keys() & environment.keys():
            assert settings()[setting] == environment[setting]
    folders = {value for value in settings().values() if value.startswith("/")}
    mounted = {
        mount["mountPath"]
        for name in ("coordinator", "worker")
        for mount in pods(manifests)[name]["containers"][0]["volumeMounts"]
    }
    assert mounted == folders | {"/tmp"}
    for name in re.findall(r"FARTHEST_[A-Z_]+", page()):
        assert name in known, name
    for name in re.findall(r"AWS_[A-Z_]+", page()):
        assert f"`{name}`" in (ROOT / "docs/settings.md").read_text(encoding="utf-8")


def test_network(manifests: list[Manifest]) -> None:
    """Every pod is shut off; each way is open on both sides."""
    policies = {one["metadata"]["name"]: one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"}
    assert policies.pop("nothing-else") == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert policies.pop("to-names")["podSelector"] == {}
    for server in ("postgres", "redis"):
        out, into = policies.pop(f"to-{server}"), policies.pop(server)
        assert into["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": server}}
        ((way,), (back,)) = out["egress"], into["ingress"]
        assert out["podSelector"] == back["from"][0]["podSelector"]
        (port,) = pods(manifests)[server]["containers"][0]["ports"]
        assert ([port["containerPort"]], [port["name"]]) == (
            [one["port"] for one in way["ports"]],
            [one["port"] for one in back["ports"]],
        )
        service = named(manifests, "Service", server)["spec"]
        assert service["ports"][0]["port"] == port["containerPort"]
    (way,) = policies.pop("metrics")["ingress"]
    assert not policies
    for name in ("coordinator", "worker"):
        template = named(manifests, "Deployment", name)["spec"]["template"]
        (port,) = template["spec"]["containers"][0]["ports"]
        assert [one["port"] for one in way["ports"]] == [port["name"]]
        assert template["metadata"]["annotations"]["prometheus.io/port"] == str(port["containerPort"])
        assert settings()["FARTHEST_METRICS_ADDRESS"] == f"0.0.0.0:{port['containerPort']}"


def test_selectors(manifests: list[Manifest]) -> None:
    for manifest in manifests:
        if manifest["kind"] not in ("Deployment", "StatefulSet", "Service", "PodDisruptionBudget"):
            continue
        name, selector = manifest["metadata"]["name"], manifest["spec"]["selector"]
        assert selector.get("matchLabels", selector) == {"app.kubernetes.io/name": name}
        if "template" in manifest["spec"]:
            assert manifest["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"] == name
    assert "replicas" not in named(manifests, "Deployment", "worker")["spec"]
    scaled = named(manifests, "ScaledObject", "worker")["spec"]
    assert (scaled["scaleTargetRef"], scaled["minReplicaCount"]) == ({"name": "worker"}, 0)


def test_the_command_that_writes_passwords(manifests: list[Manifest], tmp_path: Path) -> None:
    ((word, command),) = re.findall(
        r"^    (word\(\) .*)\n    (\(umask .* > secrets\.env\))$", page(), flags=re.MULTILINE
    )
    made = tmp_path / "secrets.env"
    command = command.replace("> secrets.env", f"> {shlex.quote(str(made))}")
    subprocess.run(["sh", "-c", f"{word}\n{command}"], cwd=ROOT, check=True)
    assert made.stat().st_mode & 0o777 == 0o600
    text = made.read_text(encoding="utf-8")
    lines = [line.split("=", 1) for line in text.splitlines() if not line.startswith("#")]
    secret = dict(lines)
    for url, server, password in (
        ("FARTHEST_DATABASE_URL", "postgres", "POSTGRES_PASSWORD"),
        ("FARTHEST_REDIS_URL", "redis", "REDIS_PASSWORD"),
    ):
        assert re.fullmatch("[0-9a-f]{48}", secret[password])
        assert f":{secret[password]}@{server}.farthest.svc:" in secret[url]
    wanted = {
        one["valueFrom"]["secretKeyRef"]["key"]
        for pod in pods(manifests).values()
        for one in pod["containers"][0]["env"]
        if "valueFrom" in one
    }
    assert secret.keys() == wanted
    assert set(PASSWORDS) < wanted
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "secrets.env" in ignored


def test_what_the_page_says(manifests: list[Manifest], composed: dict[str, Service]) -> None:
    """Its files exist, and its figures are those of the manifests."""
    for name in re.findall(r"kubernetes/[\w./-]+", page()):
        assert (ROOT / name.rstrip("/.")).exists(), name
    for words in re.findall(r"exec (?:-it )?deploy/\w+ -- (farthest .*)", page()):
        assert shlex.split(words)[1] in ("submit", "watch")
    scaled = named(manifests, "ScaledObject", "worker")["spec"]
    assert page().count(f"registry.example/farthest:{__version__}") == 2
    of_a_job = 1 / float(scaled["triggers"][0]["metadata"]["targetQueryValue"])
    assert f"{of_a_job:.0f} N, {scaled['maxReplicaCount']} at most" in page()
    assert f"every {scaled['pollingInterval']} s" in page()
    assert scaled["cooldownPeriod"] == seconds("5m")


def page() -> str:
    return (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
