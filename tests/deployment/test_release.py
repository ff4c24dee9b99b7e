"""What a release is made from: the workflows, the check of wheels, the recipe for conda-forge, CITATION.cff."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from deployment.compose import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads(PYPROJECT)["project"]
CHECK = ROOT / ".ci/check_wheel.py"
PUBLISHES = {"pypi", "images", "pages"}
OF_CONDA = {
    "celery": "celery",
    "prometheus-client": "prometheus_client",
    "psycopg": "psycopg",
    "redis": "redis-py",
}
"""Names of conda-forge for packages that have another one there, or are named with an extra in pyproject.toml."""


def said_by(program: str, *words: str | Path) -> str:
    """What a program of the environment says of files that it refuses; nothing of good ones."""
    command = [Path(sys.executable).with_name(program), *words]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=ROOT)
    return done.stdout + done.stderr if done.returncode else ""


def test_workflows_are_valid() -> None:
    assert not said_by("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


def test_workflows_are_safe() -> None:
    """Actions pinned by commit, no more rights than needed, no credentials kept, no text of others in commands."""
    assert not said_by("zizmor", "--offline", "--quiet", *WORKFLOWS)


def test_workflows_run_what_is_there() -> None:
    texts = [PYPROJECT, *(file.read_text(encoding="utf-8") for file in WORKFLOWS)]
    made = set(re.findall(r"run: make ([\w-]+)", "\n".join(texts)))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"docs", "wheel"} <= made <= set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"\.ci/[\w.]+", "\n".join(texts)))
    assert {".ci/run", ".ci/check_wheel.py"} <= named
    assert all((ROOT / name).is_file() for name in named)


def test_only_the_owner_publishes() -> None:
    """What may write anywhere waits in an environment, and begins only where the owner's variable says so."""
    release = yaml.safe_load(WORKFLOWS[-1].read_text(encoding="utf-8"))
    jobs = release["jobs"]
    assert {name for name, job in jobs.items() if "permissions" in job} == PUBLISHES
    assert {name for name, job in jobs.items() if "environment" in job} == PUBLISHES
    assert release["permissions"] == {"contents": "read"}
    assert jobs["pypi"]["if"] == "vars.PUBLISH == 'yes' && github.ref_type == 'tag'"
    assert set(jobs["pypi"]["needs"]) == set(jobs) - PUBLISHES
    assert jobs["images"]["needs"] == jobs["pages"]["needs"] == ["pypi"]


def test_the_citation_names_this_program() -> None:
    assert not said_by(
        "check-jsonschema", "--builtin-schema", "vendor.citation-file-format", ROOT / "CITATION.cff"
    )
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for of_citation, of_project in [
        ("title", "name"),
        ("version", "version"),
        ("license", "license"),
        ("abstract", "description"),
        ("keywords", "keywords"),
    ]:
        assert citation[of_citation] == PROJECT[of_project]
    (author,) = citation["authors"]
    assert re.search(rf"^Copyright \(c\) \d+ {author['name']}$", (ROOT / "LICENSE").read_text(), re.MULTILINE)


def test_the_recipe_needs_what_the_project_needs() -> None:
    """rattler-build reads it, and renders it for Pythons with and without zstd of their own."""
    from rattler_build import Stage0Recipe, VariantConfig

    text = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    variants = VariantConfig.from_yaml(
        "python: ['3.12.*', '3.14.*']\ncxx_compiler: [gxx]\nc_stdlib: [sysroot]\n"
    )
    rendered = Stage0Recipe.from_yaml(text).render(variants)
    assert len(rendered) == 2
    for python, variant in zip(("3.12", "3.14"), rendered, strict=True):
        needed = {str(each) for each in variant.recipe.requirements.run}
        expected = {"python", "hiredis", "psycopg-c >=3.2"}
        for requirement in map(Requirement, PROJECT["dependencies"]):
            if requirement.marker is None or requirement.marker.evaluate({"python_version": python}):
                expected.add(f"{OF_CONDA.get(requirement.name, requirement.name)} {requirement.specifier}")
        assert needed == expected
        assert variant.recipe.package.version == PROJECT["version"]


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """The check of wheels, as a module."""
    spec = importlib.util.spec_from_file_location("check_wheel", CHECK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


END = "abi3.so" if sys.version_info >= (3, 12) else sysconfig.get_config_var("EXT_SUFFIX").removeprefix(".")
KERNEL = Path(sysconfig.get_path("platlib")) / "farthest" / f"_kernel.{END}"
MINE = "cp312-abi3" if sys.version_info >= (3, 12) else "cp311-cp311"


def wheel_of(folder: Path, tag: str, module: bytes, name: str = f"farthest/_kernel.{END}") -> Path:
    """A wheel with the tag in its name and metadata, and one module."""
    wheel = folder / f"farthest-1-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr(name, module)
        files.writestr("farthest-1.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        files.writestr("farthest-1.dist-info/RECORD", f"{name},,\n")
    return wheel


def mach_o(processor: int, oldest: int) -> bytes:
    """The header of a module of macOS that needs this version, two bytes and two of zero."""
    numbers = [0xFEEDFACF, processor, 0, 6, 1, 24, 0, 0, 0x32, 24, 1, oldest << 16, 0, 0]
    return b"".join(number.to_bytes(4, "little") for number in numbers)


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("cp311-cp311-macosx_11_0_arm64", "darwin.so needs macOS 14.0, later than macosx_11_0_arm64"),
        ("cp311-cp311-macosx_14_0_x86_64", "darwin.so is for macosx on arm64, not for macosx_14_0_x86_64"),
        ("cp311-cp311-win_arm64", "not for win_arm64"),
        ("cp312-abi3-macosx_14_0_arm64", r"expected one module, farthest/_kernel\.abi3\.so"),
        ("cp311-cp311-macosx_14_0_arm64", None),
    ],
)
def test_wheels_of_macos(check: ModuleType, tmp_path: Path, tag: str, said: str | None) -> None:
    wheel = wheel_of(tmp_path, tag, mach_o(0x0100000C, 14), "farthest/_kernel.cpython-311-darwin.so")
    found = check.faults(wheel)
    assert re.search(said, *found) if said else not found


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="the module of this machine is one of Linux")
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}.get(platform.machine(), "x86_64")


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize(
    ("tag", "said"),
    [
        (
            f"{MINE}-manylinux_2_5_{platform.machine()}",
            r"it needs manylinux_2_\d+_\w+, more than manylinux_2_5_",
        ),
        (f"{MINE}-musllinux_1_2_{platform.machine()}", "with glibc libc"),
        (f"{MINE}-linux_{OTHER}", f"is for linux on {platform.machine()}, not for linux_{OTHER}"),
        (f"cp310-abi3-linux_{platform.machine()}", "abi3audit: "),
    ],
)
def test_wheels_of_linux_that_are_not_what_they_say(
    check: ModuleType, tmp_path: Path, tag: str, said: str
) -> None:
    end = "abi3.so" if "abi3" in tag else END
    wheel = wheel_of(tmp_path, tag, KERNEL.read_bytes(), f"farthest/_kernel.{end}")
    assert any(re.search(said, fault) for fault in check.faults(wheel))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make wheel` makes."""
    folder = tmp_path_factory.mktemp("wheel")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "wheel", f"WHEELS={folder}"], cwd=ROOT, env=environment, check=True)
    (made,) = folder.glob("*.whl")
    return made


@needs_linux
@pytest.mark.slow
def test_the_wheel_is_what_its_name_says() -> None:
    """The one that is installed here."""
    (wheel,) = (ROOT / "build/wheel").glob("*.whl")
    done = subprocess.run([sys.executable, CHECK, wheel], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (0, f"{wheel.name}: is what its name says\n")


@pytest.mark.night
def test_the_wheel_needs_no_compiler(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv/bin"
    environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment |= {"PATH": str(programs), "CC": "false", "CXX": "false"}
    for program, *words in (["pip", "install", "--quiet", str(wheel)], ["farthest", "enumerate", "8-puzzle"]):
        done = subprocess.run(
            [programs / program, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    assert "8-puzzle: 181,440 states, eccentricity 31" in done.stdout
