"""The commands of the Dockerfile, run without Docker: the same files, the same order, other folders.

They compile the kernel anew. `make containers` runs the Dockerfile itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deployment.compose import ROOT
from deployment.dockerfile import Instruction, Stage, read_stages, sent

pytestmark = pytest.mark.night

FOLDERS = ("/source", "/tools", "/wheels", "/opt/farthest")
"""The folders that the builder makes; in the test they are under a temporary one."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the stages of the Dockerfile make in theirs."""
    root = tmp_path_factory.mktemp("image")
    probe = ["download", "--quiet", "--no-deps", "--dest", str(root / "probe"), "click"]
    reached = subprocess.run(
        [sys.executable, "-m", "pip", "--no-input", *probe], capture_output=True, check=False
    )
    if reached.returncode != 0:
        pytest.skip("no package index can be reached")
    (root / "programs").mkdir()
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    (root / "programs/python").symlink_to(base)
    build(read_stages()[0], root)
    return root


def build(stage: Stage, root: Path) -> None:
    """Does what the instructions of a stage say, apart from the installation of system packages."""
    folder = root
    for instruction in stage.instructions:
        match instruction.name:
            case "WORKDIR":
                folder = root / instruction.text.lstrip("/")
                folder.mkdir(parents=True)
            case "COPY":
                _copy(instruction, folder)
            case "RUN" if "apt-get" not in instruction.text:
                _run(instruction.text, root, folder)


def _copy(instruction: Instruction, folder: Path) -> None:
    *sources, target = instruction.words
    for source in sources:
        origin = ROOT / source
        files = [path for path in origin.rglob("*") if path.is_file()] if origin.is_dir() else [origin]
        for file in files:
            if sent(file.relative_to(ROOT).as_posix()):
                copy = folder / target / (file.relative_to(origin) if origin.is_dir() else file.name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copy)


def _run(command: str, root: Path, folder: Path) -> None:
    for place in FOLDERS:
        command = re.sub(rf"(?<![\w.]){place}\b", f"{root}{place}", command)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HOME", "LANG"))}
    environment = kept | {"PATH": f"{root}/programs:{os.environ['PATH']}"}
    result = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 0, f"{command}\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}"


def in_image(image: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of the image, with the path that its last stage sets and nothing of the tests' environment."""
    return subprocess.run(
        [image / "opt/farthest/bin" / command[0], *command[1:]],
        cwd=image,
        env={"PATH": f"{image}/opt/farthest/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_image_has_the_program(image: Path) -> None:
    shown = in_image(image, "farthest", "--version")
    assert shown.stdout.startswith("farthest "), shown.stderr
    default = json.loads(read_stages()[-1].all("CMD")[0].text)
    assert in_image(image, *default).returncode == 0


def test_the_image_runs_a_job(image: Path) -> None:
    result = in_image(image, "farthest", "enumerate", "eight-kinds", "--json")
    assert '"states": 90720' in result.stdout, result.stderr


def test_the_image_has_what_the_services_need(image: Path) -> None:
    modules = "celery, flower, hiredis, psycopg, redis, farthest.web.server, farthest.worker.app"
    code = f"import {modules}; print(farthest.worker.app.__file__)"
    result = in_image(image, "python", "-c", code)
    assert result.stdout.startswith(str(image)), result.stderr


def test_versions_are_those_of_the_lock(image: Path) -> None:
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower()
    site = next((image / "opt/farthest/lib").glob("python*/site-packages"))
    installed = [path.name.removesuffix(".dist-info").rsplit("-", 1) for path in site.glob("*.dist-info")]
    assert len(installed) > 20
    for name, version in installed:
        line = rf"^{name.lower().replace('_', '[-_.]')}=={re.escape(version)}\b"
        assert name == "farthest" or re.search(line, lock, flags=re.MULTILINE), name


def test_neither_pip_nor_a_compiler_in_the_image(image: Path) -> None:
    site = next((image / "opt/farthest/lib").glob("python*/site-packages"))
    names = {path.name for path in site.iterdir()}
    assert not {"pip", "nanobind", "scikit_build_core", "cmake", "ninja"} & names
    assert not list(site.glob("farthest/**/*.cpp"))
