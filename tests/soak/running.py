"""Jobs under way: how far they are, how they ended, and what is done when a strike has ended them."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from click.testing import CliRunner

from cluster import Service
from farthest.cli.app import cli
from farthest.errors import JobError
from soak.workloads import Expected, Workload, answer

if TYPE_CHECKING:
    from soak.ground import Ground

RESUMES = 12
"""A job that needs more of them is counted as hung."""
ASK_SECONDS = 2.0
RIGHT, WRONG, LOST, HUNG = "right", "wrong", "lost", "hung"

UNCLEAR = r"\w+(Error|Exception|Exit): |status "
"""How an error begins that was not expected: with its class, or of a command with its status."""

# Errors that end a job, or a command, by the words in them, and the strikes that are reason enough.
JUSTIFIED: tuple[tuple[str, str], ...] = (
    ("Redis has no memory left", "redis_full"),
    ("refuses the user or the password|invalid username-password|NOAUTH", "redis_password"),
    ("cannot be reached|number of clients", "redis|database|backends|line|client"),
    ("no room left for the database", "disk_full"),
    (r"lost \w+( times)? since the last checkpoint", "redis|blob|record|key|restart|line|database"),
    (r"was begun \d+ times and never ended", "worker|clock"),
    (
        "was cancelled, or another process has taken it over",
        "cancel|freeze|clock|database|delete|owner|coord",
    ),
)


@dataclass
class Running:
    """A job of a round. ``result``: one of ASK_SECONDS = 2.0
    RIGHT, WRONG, LOST, HUNG once that is known."""

    workload: Workload
    expected: Expected
    begun: float = field(default_factory=time.monotonic)
    result: str | None = None
    seconds: float = 0.0
    disturbed: float = 0.0  # when it was last resumed
    moved: float = 0.0  # when it was last seen to get on
    told: object = None  # what it told of itself then
    resumed: list[str] = field(default_factory=list)  # why: an error that a strike justifies
    unjustified: list[str] = field(default_factory=list)  # errors that none does
    detail: str = ""
    job: int = 0

    def poll(self, ground: Ground) -> None:
        """Looks how it is; takes up again what has ended without a result."""
        raise NotImplementedError

    def hangs(self, struck: float, bound: float) -> bool:
        """Whether nothing of it has moved for ``bound`` seconds since the last strike, or it takes four times as long
        in all."""
        calm = max(struck, self.disturbed, self.begun)
        now = time.monotonic()
        return now - max(calm, self.moved) > bound or now - calm > 4 * bound

    def heed(self, told: object) -> None:
        """Notes what it tells of itself."""
        if told != self.told:
            self.told, self.moved = told, time.monotonic()

    def end(self, result: str, detail: str = "") -> None:
        self.result, self.detail = result, detail
        self.seconds = time.monotonic() - self.begun

    def give_up(self, ground: Ground) -> None:
        """It hangs: makes it end."""
        raise NotImplementedError

    def took_error(self, ground: Ground, error: str) -> None:
        """Notes an error that has ended it."""
        struck = " ".join(ground.recent)
        reason = any(re.search(words, error) and re.search(strikes, struck) for words, strikes in JUSTIFIED)
        clear = not re.match(UNCLEAR, error)
        (self.resumed if clear and reason else self.unjustified).append(error)
        self.disturbed = time.monotonic()
        if len(self.resumed) + len(self.unjustified) > RESUMES:
            self.end(HUNG, f"ended {RESUMES} times: {error}")

    def compare(self, found: dict[str, object]) -> None:
        """Ends it: right, or wrong."""
        differ = [name for name, value in found.items() if self.expected.answer[name] != value]
        detail = "; ".join(f"{name}: {found[name]}, not {self.expected.answer[name]}" for name in differ)
        self.end(WRONG if differ else RIGHT, detail[:2000])


class SubmittedJob(Running):
    """An enumeration that coordinators run."""

    deleted = False
    """Whether a strike has deleted it."""
    cancelled = False
    """Whether a strike has cancelled it."""

    def submit(self, ground: Ground) -> None:
        self.job = ground.cluster.submit(*self.expected.command[1:])

    def poll(self, ground: Ground) -> None:
        try:
            record = ground.cluster.job(self.job)
        except JobError:
            if not self.deleted:
                self.end(LOST, f"job {self.job} is not in the table any more")
                return
            self.deleted = False
            self.resumed.append("deleted by a strike")
            self.submit(ground)
            return
        if record.status in ("queued", "running"):
            self.heed((record.status, record.depth, record.progress))
            return
        if record.status == "finished":
            found = ground.cluster.asked(lambda jobs: jobs.layers(self.job))
            layers = [layer.states for layer in found]
            self.compare({"digest": record.digest, "layers": layers})
            return
        if self.cancelled and record.status == "cancelled":
            self.resumed.append("cancelled by a strike")
        elif record.error:
            self.took_error(ground, record.error)
        else:
            self.end(LOST, f"job {self.job} is {record.status}, without an error")
        self.cancelled = False
        if self.result is None:
            command(ground, "resume", str(self.job))
            self.disturbed = time.monotonic()

    def give_up(self, ground: Ground) -> None:
        command(ground, "cancel", str(self.job))


class CommandJob(Running):
    """A command in the foreground: a search by workers, or anything in one process. It is given again until it ends."""

    service: Service
    database = ""
    struck: signal.Signals | None = None
    """What a strike has sent to the process."""
    start_again: Callable[[], Service]
    not_before = 0.0
    _asked = 0.0

    def begin(self, start: Callable[[], Service]) -> None:
        self.start_again = start
        self.service = start()

    def poll(self, ground: Ground) -> None:
        if self.service.alive:
            self.heed(self._progress(ground))
            return
        if self.not_before:
            if time.monotonic() >= self.not_before:
                self.not_before, self.struck = 0.0, None
                self.service = self.start_again()
            return
        status, said = self.service.process.returncode, self.service.said()
        if status == 0:
            self._finish(ground, [line for line in said.splitlines() if line.startswith("{")])
            return
        self.not_before = time.monotonic() + 0.3
        self.disturbed = time.monotonic()
        if self.struck is signal.SIGKILL and status == -signal.SIGKILL:
            self.resumed.append("killed by a strike")
        elif self.struck in (signal.SIGINT, signal.SIGTERM) and status in (130, 143, -2, -15):
            self.resumed.append("stopped by a strike")
        else:
            errors = [
                line.removeprefix("Error: ") for line in said.splitlines() if line.startswith("Error: ")
            ]
            text = errors[-1] if errors and status == 2 else f"status {status}: {said[-1500:]}"
            self.took_error(ground, text)

    def _finish(self, ground: Ground, documents: list[str]) -> None:
        if not documents:
            self.end(WRONG, "it ended with status 0 and printed no result")
            return
        document = json.loads(documents[-1])
        self.job = document["job"]
        self.compare(answer(document))
        if self.workload.kind == "search":
            try:
                status = ground.cluster.job(self.job).status
            except JobError:
                status = "not there"
            if status != "finished":
                self.end(LOST, f"job {self.job} is {status} in the table")

    def _progress(self, ground: Ground) -> object:
        """What the newest search tells of itself: there is one at a time."""
        if self.workload.kind != "search" or time.monotonic() - self._asked < ASK_SECONDS:
            return self.told
        self._asked = time.monotonic()
        searches = [one for one in ground.cluster.asked(lambda jobs: jobs.list()) if one.kind == "search"]
        return [(one.id, one.status, one.progress) for one in searches[-1:]]

    def strike(self, number: signal.Signals) -> None:
        """Sends a signal to the process, with its children where that kills."""
        self.struck = number
        if number is signal.SIGKILL:
            self.service.kill()
        else:
            self.service.process.send_signal(number)

    def give_up(self, ground: Ground) -> None:
        self.service.kill()


def command(ground: Ground, *words: str) -> tuple[int, str]:
    """Runs a command on the cluster's database in this process; its status and what it said."""
    options = ["--database", ground.cluster.database_url]
    done = CliRunner().invoke(cli, [*words, *options], env={"FARTHEST_REDIS_URL": ground.cluster.redis_url})
    return done.exit_code, done.output
