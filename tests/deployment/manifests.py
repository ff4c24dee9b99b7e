"""The manifests in kubernetes/: as they are written, and as `kubectl kustomize` puts them together."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployment.compose import ROOT

FOLDER = ROOT / "kubernetes"
KEDA = "keda.sh/v1alpha1"
Manifest = dict[str, Any]


def _fields(*needed: str, **fields: Any) -> Manifest:
    return {
        "type": "object",
        "properties": fields,
        "required": list(needed),
        "additionalProperties": False,
    }


_TEXT, _NUMBER = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 0}
_NAME = _fields("name", name=_TEXT)
_HEAD = {"apiVersion": {"const": KEDA}, "kind": _TEXT, "metadata": {"type": "object", "required": ["name"]}}
_TRIGGER = _fields(
    "type",
    "metadata",
    type={"const": "postgresql"},
    metricType={"const": "AverageValue"},
    authenticationRef=_NAME,
    metadata=_fields(
        "query", "targetQueryValue", query=_TEXT, targetQueryValue=_TEXT, activationTargetQueryValue=_TEXT
    ),
)
KEDA_SCHEMAS = {
    "ScaledObject": _fields(
        "spec",
        **_HEAD,
        spec=_fields(
            "scaleTargetRef",
            "triggers",
            scaleTargetRef=_NAME,
            pollingInterval=_NUMBER,
            cooldownPeriod=_NUMBER,
            minReplicaCount=_NUMBER,
            maxReplicaCount=_NUMBER,
            triggers={"type": "array", "items": _TRIGGER, "minItems": 1},
        ),
    ),
    "TriggerAuthentication": _fields(
        "spec",
        **_HEAD,
        spec=_fields(
            "secretTargetRef",
            secretTargetRef={
                "type": "array",
                "items": _fields(
                    "parameter", "name", "key", parameter={"const": "connection"}, name=_TEXT, key=_TEXT
                ),
            },
        ),
    ),
}
"""The fields of KEDA's objects, and of its PostgreSQL trigger, that the manifests have (KEDA 2.20). Its own schema lets
a trigger have any."""


def written(*folders: str) -> Iterator[Manifest]:
    """The objects in the files of these folders that their kustomizations name."""
    for folder in folders:
        kustomization = yaml.safe_load((FOLDER / folder / "kustomization.yaml").read_text(encoding="utf-8"))
        for name in kustomization["resources"]:
            if (FOLDER / folder / name).is_file():
                yield from _read((FOLDER / folder / name).read_text(encoding="utf-8"))


def built(folder: Path) -> list[Manifest]:
    """What `kubectl apply -k` would send; it needs no cluster."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not on the PATH")
    result = subprocess.run(
        [kubectl, "kustomize", str(folder)], capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return _read(result.stdout)


def _read(text: str) -> list[Manifest]:
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def named(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    """The object of this kind and name."""
    (found,) = (one for one in manifests if one["kind"] == kind and one["metadata"]["name"] == name)
    return found


def pods(manifests: list[Manifest]) -> dict[str, Manifest]:
    """What pods are made of, by the name of what makes them."""
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in manifests
        if one["kind"] in ("Job", "Deployment", "StatefulSet")
    }


def settings() -> dict[str, str]:
    """The settings of all pods."""
    text = (FOLDER / "base/settings.env").read_text(encoding="utf-8")
    return dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))


def check(manifest: Manifest, version: str) -> None:
    """Raises ValidationError where a version of Kubernetes, or KEDA, would refuse an object or ignore a part of it."""
    import jsonschema
    import kubernetes_validate

    if manifest["apiVersion"] == KEDA:
        jsonschema.validate(manifest, KEDA_SCHEMAS[manifest["kind"]])
    else:
        kubernetes_validate.validate(manifest, version, strict=True)
