"""`make containers`: docker-compose.yml run in a real engine, with real jobs, kills and restarts. It prints a line for
each check and ends with the line `N passed, N failed`; or with one line that says why nothing could be checked.

An engine of this machine is used where it has, or can get, the images; else one is made in build/containers/, which
needs root and Debian (tests/containers/engine). Words after the command choose checks by parts of their names.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from containers import checks
from containers.checks import FOLDER, ROOT
from containers.deployment import PROFILES, CheckError, Deployment, Engine

SCRIPT = Path(__file__).with_name("engine")
IMAGES = ("python:3.13-slim-trixie", "redis:8", "postgres:18")
CANNOT = 3
"""Exit status of the script where something is missing on this machine."""

CHECKS: tuple[Callable[[Deployment], str | None], ...] = (
    checks.first_builds,
    checks.unchanged_build,
    checks.hardening,
    checks.limits,
    checks.jobs,
    *map(checks.kills, ("worker", "coordinator", "redis", "postgres")),
    checks.restarts,
    checks.down_and_up,
    checks.flower,
    checks.web,
    checks.volumes,
    checks.exports,
    checks.backup,
    checks.full_redis,
    checks.ends,
)


class Missing(Exception):
    """Why no engine can be had here."""


@contextmanager
def engine() -> Iterator[Engine]:
    """An engine of this machine, or else one of our own, which ends with the block. Raises Missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if has_images():
        file = FOLDER / "variables.env"
        yield Engine((), str(ROOT), str(file), file)
        return
    try:
        made = subprocess.run(
            [SCRIPT, "up", FOLDER, ROOT], capture_output=True, encoding="utf-8", check=False
        )
        if made.returncode == CANNOT:
            raise Missing(made.stdout.strip())
        if made.returncode != 0:
            raise Missing(f"the engine did not start: {made.stderr.strip()[-1000:]}")
        prefix, inside = (str(FOLDER / "enter"),), "/srv/variables.env"
        yield Engine(prefix, "/project", inside, FOLDER / "root" / inside.lstrip("/"))
    finally:
        subprocess.run([SCRIPT, "down", FOLDER], check=True)


def has_images() -> bool:
    """Whether an engine of this machine answers, with Compose, and has or can get what the services are made from."""

    def works(*words: str) -> bool:
        return subprocess.run(["docker", *words], capture_output=True, check=False).returncode == 0

    if shutil.which("docker") is None or not (works("info") and works("compose", "version")):
        return False
    return all(works("image", "inspect", image) or works("pull", "--quiet", image) for image in IMAGES)


def run(check: Callable[[Deployment], str | None], deployment: Deployment) -> bool:
    """Makes a check and prints its line; whether it passed."""
    begun = time.monotonic()
    try:
        said, passed = check(deployment), True
    except CheckError as error:
        said, passed = str(error), False
    except Exception as error:  # one check that cannot be made must not end the others
        place = traceback.extract_tb(error.__traceback__)[-1]
        said, passed = f"{error!r} in {place.name}, line {place.lineno}", False
    said = f": {' '.join(said.split())}" if said else ""
    seconds = time.monotonic() - begun
    print(f"{'passed' if passed else 'FAILED'}  {check.__doc__}{said} ({seconds:.0f} s)", flush=True)
    return passed


def main(words: list[str]) -> int:
    """Makes the checks, all or those whose names contain one of the words. The exit status."""
    chosen = [check for check in CHECKS if not words or any(word in (check.__doc__ or "") for word in words)]
    try:
        with engine() as found:
            deployment = Deployment(found)
            try:
                version = (
                    deployment.docker("version", "--format", "{{.Server.Version}}").stdout.decode().strip()
                )
                compose = deployment.compose("version", "--short").decode().strip()
                print(f"Engine {version}, Compose {compose}", flush=True)
                passed = [run(check, deployment) for check in chosen]
            finally:
                deployment.try_compose(*PROFILES, "down", "--volumes", "--timeout", "5")
                deployment.docker("image", "rm", "farthest:check")
    except Missing as missing:
        print(f"skipped: {missing}")
        return 0
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
