"""The tests read docker-compose.yml as Docker Compose does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cases import for_each
from deployment.compose import PASSWORDS, config, interpolated, normal, seconds, services
from farthest.environment import SETTINGS

VARIABLES = {"SET": "value", "EMPTY": "", "DOLLAR": "$SET"}
GIVEN_BY_COMPOSE = {"entrypoint", "networks"}
"""What Compose adds to each service, and no test looks at."""

LONGER_IN_COMPOSE = {"build"}


@for_each(
    ("text", "wanted"),
    [
        ("a ${SET} b $SET-c", "a value b value-c"),
        ("${EMPTY}|${UNSET}|$UNSET|", "|||"),
        ("${SET:-other} ${EMPTY:-other} ${UNSET:-other}", "value other other"),
        ("${SET-other} ${EMPTY-other} ${UNSET-other}", "value  other"),
        ("${UNSET:-}${EMPTY:-}", ""),
        ("${UNSET:-a:b-c?d}", "a:b-c?d"),
        ("${SET:?tell} ${SET?tell} ${EMPTY?tell}|", "value value |"),
        ("$$SET $${SET} $$$SET $$$$", "$SET ${SET} $value $$"),
        ("${DOLLAR}", "$SET"),
    ],
)
def test_variables(text: str, wanted: str) -> None:
    assert interpolated({"$SET": [text, 1, None]}, VARIABLES) == {"$SET": [wanted, 1, None]}


@for_each("text", ["${EMPTY:?what to do}", "${UNSET:?what to do}", "${UNSET?what to do}"])
def test_a_required_variable(text: str) -> None:
    with pytest.raises(ValueError, match=r"required variable \w+ is missing a value: what to do$"):
        interpolated([{"key": text}], VARIABLES)


@for_each("text", ["$", "$1", "${}", "${SET", "${SET:}", "${SET:+x}", "${UNSET:-${SET}}"])
def test_what_is_no_variable(text: str) -> None:
    with pytest.raises(ValueError, match="no such variable"):
        interpolated(text, VARIABLES)


@for_each(
    ("short", "long"),
    [
        ({"command": "a 'b c'"}, {"command": ["a", "b c"]}),
        ({"depends_on": ["a"]}, {"depends_on": {"a": {"condition": "service_started", "required": True}}}),
        ({"environment": {"A": 1, "B": "b"}}, {"environment": {"A": "1", "B": "b"}}),
        ({"mem_limit": "2560m"}, {"mem_limit": 2560 << 20}),
        ({"mem_limit": "2GB"}, {"mem_limit": 2 << 30}),
        (
            {"ports": ["127.0.0.1:80:8080"]},
            {
                "ports": [
                    {
                        "mode": "ingress",
                        "protocol": "tcp",
                        "host_ip": "127.0.0.1",
                        "published": "80",
                        "target": 8080,
                    }
                ]
            },
        ),
        (
            {"volumes": ["data:/var/data"]},
            {"volumes": [{"type": "volume", "source": "data", "target": "/var/data", "volume": {}}]},
        ),
    ],
)
def test_forms(short: dict[str, Any], long: dict[str, Any]) -> None:
    assert normal(short) == normal(long) == long


@for_each(
    "raw",
    [
        {"environment": {"A": True}},
        {"mem_limit": "much"},
        {"ports": ["80-81:80-81"]},
        {"stop_grace_period": ""},
        {"stop_grace_period": "10"},
        {"volumes": ["./data:/data"]},
    ],
)
def test_other_forms_are_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no such"):
        normal(raw)


def test_times() -> None:
    assert [seconds(text) for text in ("30s", "2m", "2m0s", "1h0m1.5s")] == [30, 120, 120, 3601.5]


@for_each("profiles", [(), ("monitoring",), ("monitoring", "web")])
@for_each(
    "variables",
    [
        PASSWORDS,
        {setting.name: "" for setting in SETTINGS} | {"WORKER_LIMIT": "", "POSTGRES_PORT": ""} | PASSWORDS,
        {setting.name: f"{setting.name} $$ $x" for setting in SETTINGS} | PASSWORDS,
        {"WORKER_LIMIT": "3gb", "POSTGRES_PORT": "5433", "FARTHEST_VERSION": "1.2"} | PASSWORDS,
    ],
)
def test_as_compose(profiles: tuple[str, ...], variables: dict[str, str]) -> None:
    result = config(*profiles, variables=variables)
    assert result.stdout, result.stderr
    theirs = _unescaped(json.loads(result.stdout))["services"]
    ours = services(*profiles, variables=variables)
    assert ours.keys() == theirs.keys()
    for name, service in ours.items():
        assert service.raw.keys() == theirs[name].keys() - GIVEN_BY_COMPOSE
        compared = service.raw.keys() - LONGER_IN_COMPOSE
        wanted = normal(theirs[name])
        assert {key: service.raw[key] for key in compared} == {key: wanted[key] for key in compared}


def _unescaped(value: Any) -> Any:
    """`config` prints a file that can be read again, with each $ written twice."""
    if isinstance(value, dict):
        return {key: _unescaped(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_unescaped(part) for part in value]
    return value.replace("$$", "$") if isinstance(value, str) else value
