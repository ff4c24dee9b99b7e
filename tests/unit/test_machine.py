"""What is free for a process: of the machine, and of the control groups that it is in."""

from pathlib import Path

import pytest

from farthest import machine

GIB = 2**30
V1 = "sys/fs/cgroup/memory"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with 8 GiB free, and no group yet."""
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    for name, text in (
        ("proc/meminfo", f"MemTotal: 1 kB\nMemAvailable: {8 * GIB // 1024} kB\n"),
        ("proc/self/cgroup", "0::/user/job\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def group(
    folder: Path, limit: int | str, used: int, statistics: str = "", names: str = "max current"
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    most, now = (f"memory.{name}" for name in names.split())
    (folder / most).write_text(f"{limit}\n")
    (folder / now).write_text(f"{used}\n")
    if statistics:
        (folder / "memory.stat").write_text(statistics)


def test_without_groups_it_is_what_the_system_tells(root: Path) -> None:
    assert machine.available_memory() == 8 * GIB
    assert machine.memory_limit(None) == 8 * GIB * 4 // 5
    assert machine.memory_limit(5) == 5


def test_what_a_group_has_used_is_not_free_but_for_files(root: Path) -> None:
    group(root / "sys/fs/cgroup/user/job", 4 * GIB, 3 * GIB, "anon 7\ninactive_file 1000\nactive_file 24\n")
    assert machine.available_memory() == GIB + 1024


def test_the_tightest_of_all_groups_counts(root: Path) -> None:
    group(root / "sys/fs/cgroup/user/job", "max", 3 * GIB)
    group(root / "sys/fs/cgroup/user", 5 * GIB, 3 * GIB)
    group(root / "sys/fs/cgroup", 6 * GIB, GIB)
    assert machine.available_memory() == 2 * GIB


def test_the_groups_of_version_1(root: Path) -> None:
    (root / "proc/self/cgroup").write_text("3:cpu,cpuacct:/\n2:memory:/box\n1:name=systemd:/a:b\n")
    group(root / V1 / "box", 3 * GIB, GIB, names="limit_in_bytes usage_in_bytes")
    group(root / V1, 2**63 - 4096, 9 * GIB, names="limit_in_bytes usage_in_bytes")
    assert machine.available_memory() == 2 * GIB


def test_a_container_that_sees_its_group_as_the_root(root: Path) -> None:
    """Its path is that of the host, and not there."""
    (root / "proc/self/cgroup").write_text("0::/docker/0123\n")
    group(root / "sys/fs/cgroup", GIB, GIB // 4)
    assert machine.available_memory() == GIB * 3 // 4


def test_a_group_that_is_full_leaves_nothing(root: Path) -> None:
    group(root / "sys/fs/cgroup", GIB, GIB + 4096)
    assert machine.available_memory() == 0
