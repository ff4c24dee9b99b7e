"""Jobs under strikes for as long as wanted: `make soak SOAK_MINUTES=60 SOAK_SEED=n`.

Starts servers, workers and coordinators of its own, and leaves nothing behind but evidence of what went wrong. Exit
status 1: a job was wrong, hung or lost, or ended with an error that no strike justifies. Ctrl-C ends it with a report.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import ExitStack, suppress
from pathlib import Path

import small_pieces
from faults import leftovers
from soak import small_disk, strikes_redis, strikes_servers
from soak.ground import LEAVE_SECONDS, Ground, ground, left_well
from soak.report import Evidence, Report
from soak.rounds import Plan, Rounds
from soak.strikes import STRIKES
from soak.workloads import WORKLOADS, Expected, expected, write_spaces

STOPS = (signal.SIGINT, signal.SIGTERM)
STRIKES_REGISTERED_BY = (strikes_redis, strikes_servers)


def main() -> int:
    options = _options()
    # Also because a job in a shell's background is told to ignore Ctrl-C, and so would be all that it starts.
    for number in STOPS:
        signal.signal(number, _stop)
    os.environ["FARTHEST_PUZZLE_MODULES"] = "python_spaces"
    no_disks = small_disk.own_mounts()
    folder = Path(tempfile.mkdtemp(prefix="farthest-soak-"))
    report = Report(options.seed, folder)
    folder.chmod(0o755)  # PostgreSQL is another user where this one is root
    try:
        _soak(options, report, folder, no_disks)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in report.lines():
        _say(line)
    if options.json:
        options.json.write_text(json.dumps(report.document(), indent=1) + "\n")
    return int(report.failed)


def _stop(number: int, frame: object) -> None:
    """Ends the soak; the same signals again do not disturb that."""
    for one in STOPS:
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="default: any")
    parser.add_argument("--strikes", type=int, nargs=2, metavar="N", help="least and most of a round")
    parser.add_argument("--only", help="strikes whose names contain one of these words, with commas between")
    parser.add_argument("--workloads", help="likewise of workloads and their engines")
    parser.add_argument("--rounds", type=int, default=10**9, help="no more than these")
    parser.add_argument(
        "--bound", type=float, default=Plan.bound, help="seconds for a job after the last strike"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there, too")
    parser.add_argument("--evidence", type=Path, metavar="FOLDER", help="default: build/soak/SEED")
    options = parser.parse_args()
    options.seed = options.seed or random.SystemRandom().getrandbits(32)
    options.evidence = options.evidence or Path("build/soak") / str(options.seed)
    return options


def _soak(options: argparse.Namespace, report: Report, folder: Path, no_disks: str) -> None:
    for name in [name for name in STRIKES if not _wanted(name, options.only)]:
        del STRIKES[name]
    _say(f"seed {options.seed}, evidence of failures in {options.evidence}")
    small_pieces.cut(small_pieces.CUT)
    files = write_spaces(folder)
    chosen = [one for one in WORKLOADS if _wanted(f"{one.kind} {one.engine} {one.name}", options.workloads)]
    found: dict[tuple[object, ...], Expected] = {}
    answers = {}
    for one in chosen:
        same = (one.words, one.seed)
        answers[one] = found[same] = found.get(same) or expected(one, files, folder / "expected.db")
    _say(f"{len(answers)} workloads, {len(STRIKES)} kinds of strikes")
    present = {one.kind for one in chosen}
    plan = Plan(
        kinds=tuple(kind for kind in Plan.kinds if kind in present),
        strikes=tuple(options.strikes) if options.strikes else Plan.strikes,
        bound=options.bound,
    )
    with ExitStack() as stack:
        place = stack.enter_context(ground(folder, options.seed, no_disks))
        report.skipped += [why for why in (place.disks_why_not, place.clocks.why_not) if why]
        place.fill_up()
        place.cluster.ready()
        rounds = Rounds(place, answers, plan, report, Evidence(options.evidence), _say)
        end = time.monotonic() + 60 * options.minutes
        report.begun = time.monotonic()
        try:
            while time.monotonic() < end and report.rounds < options.rounds:
                rounds.run()
            _leave(place, report)
        except KeyboardInterrupt:
            _say("stopped; jobs under way are not counted")
        except Exception:
            report.broken = traceback.format_exc()


def _wanted(name: str, words: str | None) -> bool:
    return words is None or any(word in name for word in words.split(","))


def _leave(place: Ground, report: Report) -> None:
    """Tells all processes to end, and looks what is left of the jobs."""
    place.mend()
    with suppress(AssertionError):
        place.cluster.ready()
    for service in (*place.cluster.workers, *place.cluster.coordinators):
        place.dismiss(service)
    limit = time.monotonic() + LEAVE_SECONDS
    while any(service.alive for service in place.leaving_services()) and time.monotonic() < limit:
        time.sleep(0.1)
    for service, _ in place.leaving:
        if not left_well(service):
            report.left_at_end.append(f"{service.name}: status {service.process.poll()} when told to end")
    report.left_at_end += leftovers(place.cluster.redis)


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
