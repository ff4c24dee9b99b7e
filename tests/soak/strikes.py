"""The strikes of a soak: those of processes and of jobs; `strikes_servers` has those of everything else."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import faults
from faults import LEASE_SECONDS
from soak.running import CommandJob, SubmittedJob, command

if TYPE_CHECKING:
    from soak.ground import Ground

Needs = Literal["", "submitted", "search", "local", "disks", "clocks"]
JOB_LEASE_SECONDS = 15.0
"""Of a coordinator."""


class Missed(Exception):
    """There was nothing to strike."""


@dataclass(frozen=True)
class Strike:
    """``needs``: a job of that kind under way, or what not every machine has."""

    name: str
    act: Callable[[Ground], None]
    needs: Needs = ""


STRIKES: dict[str, Strike] = {}


def strike(needs: Needs = "") -> Callable[[Callable[[Ground], None]], Callable[[Ground], None]]:
    """Makes a function one of the strikes."""

    def register(act: Callable[[Ground], None]) -> Callable[[Ground], None]:
        STRIKES[act.__name__] = Strike(act.__name__, act, needs)
        return act

    return register


def pause(ground: Ground, least: float = 0.5, most: float = 5.0) -> None:
    """For so long something is away, full or closed."""
    time.sleep(ground.rng.uniform(least, most))


for _one in (
    faults.kill_worker_child,
    faults.kill_worker,
    faults.kill_all_workers,
    faults.freeze_worker,
    faults.restart_redis_with_data,
    faults.empty_redis,
    faults.kill_redis,
    faults.freeze_redis,
    faults.stop_database_briefly,
):
    strike()(_one)
for _one in (
    faults.kill_coordinator,
    faults.freeze_worker_until_the_end,
    faults.kill_database_in_a_checkpoint,
    faults.turn_database_back,
    faults.damage_blob,
    faults.truncate_blob,
    faults.delete_blob,
    faults.swap_blob,
    faults.remove_record,
    faults.alter_record,
):
    strike("submitted")(_one)


# Processes


@strike()
def kill_all_coordinators(ground: Ground) -> None:
    for coordinator in list(ground.cluster.coordinators):
        ground.cluster.remove(coordinator)


@strike()
def kill_everything(ground: Ground) -> None:
    """As a power cut of all hosts but those of the servers."""
    for service in (*ground.cluster.workers, *ground.cluster.coordinators):
        ground.cluster.remove(service)


@strike()
def stop_worker(ground: Ground) -> None:
    ground.dismiss(ground.rng.choice(ground.cluster.workers))


@strike("submitted")
def stop_coordinator(ground: Ground) -> None:
    ground.dismiss(ground.owner())


@strike()
def stop_everything(ground: Ground) -> None:
    for service in (*ground.cluster.workers, *ground.cluster.coordinators):
        ground.dismiss(service)


@strike()
def freeze_all_workers(ground: Ground) -> None:
    workers = list(ground.cluster.workers)
    for worker in workers:
        worker.freeze()
    time.sleep(LEASE_SECONDS + ground.rng.uniform(0.3, 2))
    for worker in workers:
        worker.thaw()


@strike("submitted")
def freeze_coordinator(ground: Ground) -> None:
    """For longer than its lease of the job: another one takes over meanwhile."""
    owner = ground.owner()
    owner.freeze()
    time.sleep(JOB_LEASE_SECONDS + ground.rng.uniform(0.5, 3))
    owner.thaw()


@strike()
def freeze_all_coordinators(ground: Ground) -> None:
    coordinators = list(ground.cluster.coordinators)
    for coordinator in coordinators:
        coordinator.freeze()
    time.sleep(ground.rng.uniform(1, 4))
    for coordinator in coordinators:
        coordinator.thaw()


@strike()
def add_worker(ground: Ground) -> None:
    """It stays until the end of the round."""
    ground.cluster.add_worker(1)


# Commands in the foreground


def _command_of(ground: Ground, kind: str) -> CommandJob:
    return ground.rng.choice(ground.commands(kind))


def _register_commands(kind: Needs) -> None:
    def kill(ground: Ground) -> None:
        _command_of(ground, kind).strike(signal.SIGKILL)

    def stop(ground: Ground) -> None:
        _command_of(ground, kind).strike(ground.rng.choice([signal.SIGINT, signal.SIGTERM]))

    def freeze(ground: Ground) -> None:
        service = _command_of(ground, kind).service
        service.freeze()
        time.sleep(LEASE_SECONDS + ground.rng.uniform(0.3, 2))
        service.thaw()

    for verb, act in (("kill", kill), ("stop", stop), ("freeze", freeze)):
        STRIKES[f"{verb}_{kind}"] = Strike(f"{verb}_{kind}", act, kind)


_register_commands("search")
_register_commands("local")


# Jobs


def _job(ground: Ground) -> SubmittedJob:
    return next(job for job in ground.submitted() if job.job == ground.job)


@strike("submitted")
def cancel_job(ground: Ground) -> None:
    """It is resumed as soon as it is cancelled."""
    job = _job(ground)
    job.cancelled = True
    status, said = command(ground, "cancel", str(job.job))
    if status:
        job.cancelled = False
        raise Missed(said)


@strike("submitted")
def delete_job(ground: Ground) -> None:
    """Refused while it runs; where it is gone, it is submitted again."""
    job = _job(ground)
    status, said = command(ground, "delete", str(job.job))
    job.deleted = status == 0
    ground.say(said.strip())


@strike("submitted")
def submit_again(ground: Ground) -> None:
    """The same as another job, beside the first."""
    job = _job(ground)
    twin = SubmittedJob(job.workload, job.expected)
    twin.submit(ground)
    ground.jobs.append(twin)
