"""The rounds of a soak: some jobs beside each other, some strikes, then quiet until all have ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from subprocess import TimeoutExpired
from typing import TypeVar

from click import ClickException
from redis.exceptions import RedisError

from cluster import Service
from farthest.errors import FarthestError
from faults import leftovers
from soak.ground import Ground
from soak.report import Evidence, Report
from soak.running import HUNG, RIGHT, WRONG, CommandJob, Running, SubmittedJob, command
from soak.strikes import STRIKES, Missed, Needs, Strike
from soak.workloads import LAYER_SECONDS, PIECE_SECONDS, Expected, Kind, Workload

T = TypeVar("T")

LOOK_SECONDS = 0.05
VERIFIED = 0.3
"""The share of maps that are proved."""
VERIFY_SECONDS = 60.0
CLEAR_SECONDS = 10.0
"""So soon after the last job nothing of a run is left in Redis."""


@dataclass(frozen=True)
class Plan:
    """How a soak goes. ``kinds``: the jobs of a round; ``bound``: see ``Running.hangs``."""

    kinds: tuple[Kind, ...] = ("submitted", "submitted", "submitted", "search", "local")
    strikes: tuple[int, int] = (4, 7)
    pause: tuple[float, float] = (0.2, 3.0)
    bound: float = 120.0


class Rounds:
    """Runs rounds on a ground. ``expected``: what each workload gives."""

    def __init__(
        self,
        ground: Ground,
        expected: dict[Workload, Expected],
        plan: Plan,
        report: Report,
        evidence: Evidence,
        say: Callable[[str], None],
    ) -> None:
        self._ground = ground
        self._expected = expected
        self._plan = plan
        self._report = report
        self._evidence = evidence
        self._say = say
        self._decks: dict[Kind, Iterator[Workload]] = {
            kind: self._deck([one for one in expected if one.kind == kind]) for kind in set(plan.kinds)
        }
        self._struck = 0.0

    def _deck(self, cards: list[T]) -> Iterator[T]:
        """Each card once in a random order, and so on."""
        while True:
            yield from self._ground.rng.sample(cards, len(cards))

    def run(self) -> None:
        """One round."""
        ground, report = self._ground, self._report
        report.rounds += 1
        ground.recent.clear()
        ground.told.clear()
        ground.jobs[:] = []
        self._reset()
        for kind in self._plan.kinds:
            self._start(next(self._decks[kind]))
        self._struck = time.monotonic()
        self._strike_and_watch(ground.rng.randint(*self._plan.strikes))
        self._after()

    def _reset(self) -> None:
        """All is there, and clocks go right."""
        ground = self._ground
        for worker in ground.cluster.workers[2:]:
            ground.dismiss(worker)
        ground.mend()
        if not ground.clocks.why_not:
            for service in (*ground.cluster.workers, *ground.cluster.coordinators):
                ground.clocks.set(service.name, 0)

    def _start(self, workload: Workload) -> None:
        ground, expected = self._ground, self._expected[workload]
        if workload.kind == "submitted":
            job = SubmittedJob(workload, expected)
            job.submit(ground)
            ground.jobs.append(job)
            return
        running = CommandJob(workload, expected)
        running.database = str(ground.disk / f"{self._report.rounds}.db")
        running.begin(lambda: self._command(running))
        ground.jobs.append(running)

    def _command(self, job: CommandJob) -> Service:
        words = [*job.expected.command, "--json"]
        cluster = self._ground.cluster
        if job.workload.kind == "search":
            return cluster.start(*words, "--workers", "celery")
        environment = {
            **cluster.environment,
            "FARTHEST_TEST_LAYER": str(LAYER_SECONDS),
            "FARTHEST_CHECKPOINT_SECONDS": "0",
            "FARTHEST_TEST_PIECES": " ".join(
                [*cluster.environment["FARTHEST_TEST_PIECES"].split()[:3], str(PIECE_SECONDS["local"])]
            ),
        }
        log = f"local-{self._report.rounds}-{len(job.resumed) + len(job.unjustified)}"
        words += ["--threads", "1", "--database", job.database]
        service = Service(cluster.folder, log, words, environment, 0)
        cluster.adopt(service)
        return service

    def _strike_and_watch(self, strikes: int) -> None:
        ground, plan = self._ground, self._plan
        due = time.monotonic() + ground.rng.uniform(0.5, 3)
        while ground.running():
            if strikes and time.monotonic() >= due:
                strikes -= 1
                self._strike_once()
                at_once = ground.rng.random() < 0.25
                due = time.monotonic() + (0 if at_once else ground.rng.uniform(*plan.pause))
            ground.mend()
            for job in ground.running():
                job.poll(ground)
                if job.result is None and not strikes and job.hangs(self._struck, plan.bound):
                    job.end(
                        HUNG, f"not at its end, {time.monotonic() - self._struck:.0f} s after the last strike"
                    )
                if job.result is not None:
                    self._judge(job)
            time.sleep(LOOK_SECONDS)

    def _strike_once(self) -> None:
        ground = self._ground
        running = [one for one in ground.submitted() if ground.cluster.job(one.job).status == "running"]
        if running:
            ground.job = ground.rng.choice(running).job
        given: dict[Needs, bool] = {
            "": True,
            "submitted": bool(running),
            "search": bool(ground.commands("search")),
            "local": bool(ground.commands("local")),
            "disks": not ground.disks_why_not,
            "clocks": not ground.clocks.why_not,
        }
        strike = self._draw([one for one in STRIKES.values() if given[one.needs]])
        if strike is None:
            return
        ground.recent.append(strike.name)
        ground.say(f"{time.strftime('%X')} {strike.name}")
        try:
            strike.act(ground)
        except (Missed, AssertionError, FarthestError, ClickException, RedisError) as error:
            ground.recent.remove(strike.name)
            self._report.missed[strike.name] += 1
            ground.say(f"missed: {error}")
            return
        self._struck = time.monotonic()
        self._report.landed[strike.name] += 1

    def _draw(self, possible: list[Strike]) -> Strike | None:
        """Those that have landed least come first, as far as chance lets them."""
        ground, landed, missed = self._ground, self._report.landed, self._report.missed

        def order(one: Strike) -> float:
            return landed[one.name] + 0.5 * missed[one.name] + 2 * ground.rng.random()

        return min(possible, key=order, default=None)

    def _judge(self, job: Running) -> None:
        ground = self._ground
        if job.result == RIGHT and self._wants_proof(job):
            self._prove(job)
        after = max(0.0, time.monotonic() - max(self._struck, job.begun))
        if job.result == HUNG:
            ground.say(f"{job.workload.name} hangs")
            self._evidence.stacks(ground)
        line = self._report.add(job, after, list(ground.recent))
        self._say(line)
        if job.result != RIGHT or job.unjustified:
            self._evidence.keep(ground, job, line)
        if job.result == HUNG:
            job.give_up(ground)
            ground.start_afresh()
            self._struck = time.monotonic()  # for the others
        elif job.result == RIGHT and isinstance(job, SubmittedJob):
            command(ground, "delete", str(job.job))

    def _wants_proof(self, job: Running) -> bool:
        enumerated = job.workload.words[0] == "enumerate" and "--histogram-only" not in job.workload.words
        return enumerated and self._ground.rng.random() < VERIFIED

    def _prove(self, job: Running) -> None:
        """`farthest verify`, in a process of its own."""
        cluster = self._ground.cluster
        database = job.database if isinstance(job, CommandJob) else cluster.database_url
        proof = cluster.start("verify", str(job.job), "--database", database)
        status: object = "none in time"
        with suppress(TimeoutExpired):
            status = proof.process.wait(VERIFY_SECONDS)
        self._report.proved += 1
        if status != 0:
            job.end(WRONG, f"farthest verify: status {status}: {proof.said()[-1500:]}")

    def _after(self) -> None:
        """What must hold when all jobs of a round have ended."""
        ground, report = self._ground, self._report
        for database in ground.disk.glob("*.db*"):
            database.unlink()
        limit = time.monotonic() + CLEAR_SECONDS
        while (left := leftovers(ground.cluster.redis)) and time.monotonic() < limit:
            time.sleep(0.2)
        if left:
            report.left_keys += 1
            self._say(f"round {report.rounds}: {len(left)} keys of runs are left, such as {left[0]}")
        ground.man.seen.clear()
        ground.read_logs()
        if ground.ended or ground.left_badly:
            self._evidence.keep_ended(ground, report.rounds)
        for line in report.take_processes(ground):
            self._say(line)
