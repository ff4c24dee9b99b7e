"""What all tests share: which build of the kernel is tested, and in how many processes.

`FARTHEST_KERNEL_PATH` names a CMake build folder; its `farthest/_kernel.*.so` then takes the place of the
installed extension module `farthest._kernel` in this process. The sanitizer build is tested in this way
(`make sanitize`); the package itself knows nothing of it.
"""

import gc
import importlib.abc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

# pytest compiles each module of tests again to rewrite its assertions: once, not in every process of every run.
sys.dont_write_bytecode = False

gc.disable()  # until all tests are collected

pytest_plugins = [
    "random_examples",
    "server_fixtures",
    "object_server",
    "blob_places",
    "map_places",
    "strangers",
    "shared_statements",
    "quick_files",
]

KERNEL_MODULE = "farthest._kernel"


class KernelFinder(importlib.abc.MetaPathFinder):
    """Finds the kernel module, and nothing else, in a given file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != KERNEL_MODULE:
            return None
        return importlib.util.spec_from_file_location(fullname, self.file)


def kernel_file(folder: Path) -> Path:
    """The extension module in a CMake build folder. Raises pytest.UsageError unless there is exactly one."""
    files = sorted(folder.glob("farthest/_kernel.*so"))
    if len(files) != 1:
        raise pytest.UsageError(
            f"FARTHEST_KERNEL_PATH={folder}: expected one farthest/_kernel.*so there, found {len(files)};"
            " `make sanitize` builds one in build/sanitize"
        )
    return files[0].resolve()


def select_kernel() -> Path | None:
    """Put the kernel that FARTHEST_KERNEL_PATH names, if it does, before the installed one."""
    folder = os.environ.get("FARTHEST_KERNEL_PATH")
    if not folder:
        return None
    if KERNEL_MODULE in sys.modules:
        raise pytest.UsageError(f"FARTHEST_KERNEL_PATH is set, but {KERNEL_MODULE} is already imported")
    file = kernel_file(Path(folder))
    sys.meta_path.insert(0, KernelFinder(file))
    return file


selected_kernel = select_kernel()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Of `-n auto`: more than processors, since tests wait for servers, disks and processes now and then, slow ones
    more often. Each collects all tests, which takes some 5 s."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + (1 if "not slow" in config.option.markexpr else 2)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_report_header() -> str:
    return f"kernel: {selected_kernel or 'as installed'}"


@pytest.fixture(scope="session", autouse=True)
def kernel_is_the_selected_one() -> None:
    """A run meant for another build of the kernel must not test the installed one by mistake."""
    if selected_kernel is not None:
        kernel = importlib.import_module(KERNEL_MODULE)
        assert kernel.__file__ == str(selected_kernel)


# The users' classes of the tests themselves; what is refused without is tested without.
os.environ["FARTHEST_PUZZLE_MODULES"] = "python_spaces"

# A job in a shell's background is told to ignore Ctrl-C, and so would be all processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

QUICK_ON_POSTGRESQL = ("test_job_queue", "test_maps", "test_on_postgres", "test_postgres")
"""Modules of tests that run on PostgreSQL among the fast ones."""


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Marks what others have done on SQLite: as slow where tables are tested, else as for a night. Each process
    begins with its share of the slow tests: what processes take from each other at the end are then fast ones."""
    for item in items:
        if "[postgresql" in item.name and item.path.stem not in QUICK_ON_POSTGRESQL:
            item.add_marker(pytest.mark.slow if item.path.parent.name == "models" else pytest.mark.night)
    yield
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    slow = [item for item in items if item.get_closest_marker("slow")]
    fast = [item for item in items if not item.get_closest_marker("slow")]
    items[:] = [
        item for share in range(processes) for some in (slow, fast) for item in _share(some, share, processes)
    ]


def _share(items: list[pytest.Item], number: int, of: int) -> list[pytest.Item]:
    return items[len(items) * number // of : len(items) * (number + 1) // of]
