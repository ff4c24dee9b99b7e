"""Checks that what is in a wheel is what the name of the wheel says, for Linux and macOS.

    python .ci/check_wheel.py WHEEL...

The Pythons: the module's name; that a module for all from 3.12 on (abi3) uses the stable ABI alone, by abi3audit. The
processor and the oldest macOS: the module's header. The oldest glibc or musl, and that nothing needs more than every
processor of the kind has: by auditwheel. Both come from PyPI.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

ELF, MACH_O = 0x464C457F, 0xFEEDFACF
MACHINES = {
    (ELF, 62): "x86_64",
    (ELF, 183): "aarch64",
    (MACH_O, 0x01000007): "x86_64",
    (MACH_O, 0x0100000C): "arm64",
}
LC_VERSION_MIN_MACOSX, LC_BUILD_VERSION = 0x24, 0x32


def faults(wheel: Path) -> list[str]:
    """What is not as the wheel's name says; nothing of a good wheel."""
    python, abi, platforms = wheel.stem.split("-")[-3:]
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (about,) = (name for name in names if name.endswith(".dist-info/WHEEL"))
        tags = set(re.findall(r"^Tag: (.+?)\r?$", files.read(about).decode(), re.MULTILINE))
        binaries = {
            name: files.read(name) for name in names if re.search(r"\.(so|dylib|pyd|dll)(\.|$)", name)
        }
    expected = f"farthest/_kernel.{'abi3' if abi == 'abi3' else f'cpython-{python[2:]}-*'}.so"
    # Beside the module are only the C++ libraries that musl systems lack, where auditwheel puts them.
    if [fnmatchcase(name, expected) for name in binaries if not name.startswith("farthest.libs/")] != [True]:
        return [f"{', '.join(binaries) or 'no module'}: expected one module, {expected}"]
    found = []
    if tags != {f"{python}-{abi}-{platform}" for platform in platforms.split(".")}:
        found.append(f"its metadata has the tags {sorted(tags)}")
    if abi == "abi3":
        found += _said_by("abi3audit", "--strict", str(wheel))
    for platform in platforms.split("."):
        for name, binary in binaries.items():
            found += [f"{name} {fault}" for fault in _faults_of_binary(binary, platform)]
        if "linux" in platform:
            found += _faults_of_symbols(wheel, platform)
    return found


def _faults_of_binary(binary: bytes, platform: str) -> list[str]:
    """Processor and oldest macOS, from the header."""
    (magic,) = struct.unpack_from("<I", binary)
    (machine,) = struct.unpack_from("<H", binary, 18) if magic == ELF else struct.unpack_from("<I", binary, 4)
    name = MACHINES.get((magic, machine), f"unknown {magic:#x} {machine:#x}")
    system = "linux" if magic == ELF else "macosx"
    if system not in platform or not platform.endswith(f"_{name}"):
        return [f"is for {system} on {name}, not for {platform}"]
    if magic == MACH_O and (oldest := _oldest_macos(binary)) > _version(platform):
        return [f"needs macOS {oldest[0]}.{oldest[1]}, later than {platform}"]
    return []


def _oldest_macos(binary: bytes) -> tuple[int, int]:
    (commands,), at = struct.unpack_from("<I", binary, 16), 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", binary, at)
        if command in (LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX):
            (version,) = struct.unpack_from("<I", binary, at + (12 if command == LC_BUILD_VERSION else 8))
            return version >> 16, version >> 8 & 0xFF
        at += size
    return 0, 0


def _faults_of_symbols(wheel: Path, platform: str) -> list[str]:
    """The oldest C library, and the processor's extensions that the loader would ask for."""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        return [f"auditwheel: {done.stderr.strip()}"]
    shown = json.loads(done.stdout)
    needed = shown["overall_tag"]
    found = [f"it needs {', '.join(shown['external_libs'])}"] if shown["external_libs"] else []
    if shown["unsupported_isa"]:
        found.append("it needs more than every such processor has")
    # linux_x86_64, the tag of a wheel that stays on this machine, promises nothing of the C library.
    if not platform.startswith("linux_") and (
        needed.partition("_")[0] != platform.partition("_")[0] or _version(needed) > _version(platform)
    ):
        found.append(f"it needs {needed}, more than {platform}")
    return found


def _version(platform: str) -> tuple[int, int]:
    """(2, 28) of manylinux_2_28_x86_64. manylinux2014 and older names stand beside one with a version, or alone."""
    numbers = re.match(r"[a-z]+_(\d+)_(\d+)_", platform)
    if numbers is None:
        return {"manylinux2014": (2, 17), "manylinux2010": (2, 12)}.get(platform.partition("_")[0], (0, 0))
    return int(numbers[1]), int(numbers[2])


def _said_by(*command: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, encoding="utf-8", check=False
    )
    return [f"{command[0]}: {(done.stdout + done.stderr).strip()}"] if done.returncode else []


def main(wheels: list[str]) -> int:
    """Checks each and tells of it. The exit status."""
    wrong = 0
    for wheel in map(Path, wheels):
        found = faults(wheel)
        wrong += bool(found)
        print(f"{wheel.name}: {'; '.join(found) or 'is what its name says'}")
    return int(wrong > 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
