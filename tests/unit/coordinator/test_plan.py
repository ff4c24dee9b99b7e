"""What a plan decides: the space where only some layers are asked for, the store, the map, what is refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cases import for_each
from farthest.coordinator.enumeration.choice import space_for
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import Plan, plan
from farthest.coordinator.enumeration.resources import layers_by_growth
from farthest.coordinator.enumeration.workers_model import FULLEST, attempt_bytes
from farthest.coordinator.settings import Settings
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather, is_packed
from farthest.stores.blocks import cut_for_workers


@for_each(
    ("name", "options", "packed"),
    [
        ("cube-3x3x3-domino", {"max_depth": 6}, True),
        ("cube-3x3x3-domino", {"max_depth": 6, "workers": "celery"}, True),
        ("cube-3x3x3-domino", {"max_depth": 6, "residues": True}, False),  # bitmaps alone give a residue map
        (
            "cube-3x3x3-domino",
            {"max_depth": 14},
            False,
        ),  # 2.2e9 states in the layer before, and 5.6e9 in the last
        ("pancake-9", {"max_depth": 3}, False),  # bitmaps of all keys are small
        ("cube-3x3x3", {"max_depth": 3}, True),  # there are no keys
    ],
)
def test_bitmaps_that_are_much_larger_than_the_layers(
    name: str, options: dict[str, object], packed: bool
) -> None:
    settings = Settings(memory=2**34, histogram_only=not options.get("residues"), **options)  # type: ignore[arg-type]
    space = space_for(load(name), settings, Machine(settings))
    assert is_packed(space.layout_fields()) == packed


def test_layers_by_growth() -> None:
    """The first are exact, the others at least as many; sliding-3x4 has 239,500,800 states."""
    space = compile_space(load("sliding-3x4"))
    first = (1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392, 2494)  # Korf and Schultze 2005
    grown = layers_by_growth(space, 40)
    assert grown[:13] == first
    assert sum(grown) <= 239_500_800
    assert grown[32] > 1_000_000
    assert layers_by_growth(compile_space(load("pancake-4")), 9) == (1, 3, 6, 11, 3, 0)


GIB = 2**30


class Given(Machine):
    """A machine with so much memory, whatever this one has, and a place with room for any map."""

    maps: Any = SimpleNamespace(free=lambda: 2**50)

    def __init__(self, settings: Settings, folder: Path) -> None:
        super().__init__(settings, folder / "jobs.db")
        self.memory = settings.memory or 4 * GIB
        self.cores, self.threads = 4, settings.threads or 4

    @property
    def speed(self) -> float:
        return 1.0


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The room of all disks."""
    free = [77 * GIB]
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free[0]))
    return free


def planned(name: str, folder: Path, **settings: Any) -> Plan:
    asked = Settings(**settings)
    return plan(load(name), asked, Given(asked, folder))


@pytest.mark.parametrize(
    ("name", "settings", "chosen"),
    [
        ("8-puzzle", {}, ("memory", "threads", "full")),
        ("8-puzzle", {"histogram_only": True}, ("memory", "threads", "none")),
        ("8-puzzle", {"workers": "celery"}, ("redis", "celery", "full")),
        ("diabolical-box", {}, ("memory", "threads", "sparse")),
        ("15-puzzle@1-5", {}, ("memory", "threads", "full")),
        ("hanoi-4-14", {"histogram_only": True, "memory": 150 * 2**20}, ("memory", "threads", "none")),
        (
            "hanoi-4-14",
            {"histogram_only": True, "memory": 150 * 2**20, "symmetry": 1},
            ("files", "threads", "none"),
        ),
        ("pancake-12", {"histogram_only": True, "memory": 150 * 2**20}, ("files", "threads", "none")),
        ("pancake-12", {"residues": True, "memory": 150 * 2**20}, ("files", "threads", "residues")),
        ("sliding-2x7", {"workers": "celery"}, ("redis", "celery", "full")),
    ],
)
def test_store_executor_and_map(
    tmp_path: Path, room: list[int], name: str, settings: dict[str, Any], chosen: tuple[str, str, str]
) -> None:
    found = planned(name, tmp_path, **settings)
    assert (found.needs.layers_in, found.settings.workers, found.needs.map) == chosen
    assert (found.refusal, found.needs.problem) == (None, None)
    assert (found.files is not None) == (found.needs.layers_in == "files")
    assert list(tmp_path.iterdir()) == []


def test_threads_beyond_the_cores_save_no_time(tmp_path: Path, room: list[int]) -> None:
    two, four, many = (
        planned("8-puzzle", tmp_path, threads=threads).needs.seconds or 0.0 for threads in (2, 4, 99)
    )
    assert two == pytest.approx(2 * four)
    assert many == four > 0


def test_a_plan_depends_on_what_it_is_told_alone(tmp_path: Path, room: list[int]) -> None:
    ways = {"histogram_only": True, "memory": 150 * 2**20, "scratch": tmp_path}
    assert planned("pancake-12", tmp_path, **ways).needs == planned("pancake-12", tmp_path, **ways).needs
    room[0] = GIB // 100
    refused = planned("pancake-12", tmp_path, **ways)
    assert "name a folder with more room with --scratch" in str(refused.needs.problem)
    assert str(refused.refusal) == refused.needs.problem


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("sliding-4x4", {"symmetry": 1}, marks=pytest.mark.slow),
        pytest.param("pancake-15", {}, marks=pytest.mark.night),
        ("sliding-3x5", {"memory": 80 * 2**20}),
    ],
)
def test_layers_in_files_that_do_not_fit_say_what_they_need(
    tmp_path: Path, room: list[int], name: str, settings: dict[str, Any]
) -> None:
    """Not the memory that they would need elsewhere, and not a disk of 0 bytes."""
    needs = planned(name, tmp_path, **settings).needs
    assert (needs.layers_in, needs.map) == ("files", "residues")
    assert needs.problem
    if "of disk at the peak" in needs.problem:
        assert needs.memory == needs.memory_limit
        assert needs.layers_disk > room[0]
    else:
        assert needs.memory_limit < needs.memory < 2 * GIB
        assert f"allow about {-(-needs.memory // 2**20)}MiB with --memory" in needs.problem
        assert needs.layers_disk > GIB


@for_each(("name", "measured"), [("sliding-3x4", 0.21), ("sliding-3x4-slide", 0.35), ("pancake-12", 0.58)])
def test_redis_at_its_fullest_by_the_model_of_workers(name: str, measured: float) -> None:
    """Bytes a state of Redis's whole memory, as they were measured: docs/scaling.md."""
    space = gather(compile_space(load(name)))
    made = cut_for_workers(space, 2**22)
    found = attempt_bytes(space, made, Settings(), None, blobs_in_redis=True)
    assert found.redis / space.keys == pytest.approx(measured, rel=0.12)
    elsewhere = attempt_bytes(space, made, Settings(), None, blobs_in_redis=False)
    assert elsewhere.redis < 2**23
    assert elsewhere.blobs == found.blobs < found.redis / FULLEST
