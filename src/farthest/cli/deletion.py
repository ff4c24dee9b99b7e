"""`farthest delete`: jobs and all that is stored of them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from farthest.cli.completion import complete_job
from farthest.cli.options import database_option, json_option, scratch_option
from farthest.errors import FarthestError, JobError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from farthest.models.jobs import Jobs

_RANGE = re.compile(r"(\d{1,99})-(\d{1,99})", re.ASCII)


@click.command()
@click.argument("jobs", metavar="JOB...", nargs=-1, required=True, shell_complete=complete_job)
@scratch_option
@database_option
@json_option
def delete(jobs: tuple[str, ...], scratch: Path | None, database: str | None, as_json: bool) -> None:
    """Delete jobs and all that is stored of them, without asking.

    JOB is a job's number, a range of numbers such as 60-70, or a puzzle's name for its newest finished enumeration.
    Of a range, the jobs that exist are deleted; if a job that is named alone does not exist, nothing is deleted. A
    running job is not deleted: the others are, and the exit status is 2. The space of the jobs in the database is free
    for later jobs; an SQLite file does not become smaller.

    \b
    Examples:
      farthest delete 1
      farthest delete 51 52 60-70
    """
    from farthest.cli.printing import counted, print_json
    from farthest.environment import scratch_folder
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.sizes import bytes_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        wanted = _wanted(repository, jobs)
        deletion = _Deletion(repository, wanted, scratch_folder(scratch, opened.folder))
        for gone in deletion.deleted():
            if not as_json:
                what = "which was damaged" if gone.puzzle is None else gone.puzzle
                click.echo(f"Deleted job {gone.job} ({what}) from {opened.place}: {bytes_text(gone.bytes)}.")
        size = sum(one.bytes for one in deletion.gone)
        if as_json:
            one = (
                {"job": deletion.gone[0].job, "puzzle": deletion.gone[0].puzzle}
                if _one(jobs, deletion)
                else {}
            )
            print_json(
                {
                    **one,
                    "deleted": [asdict(gone) for gone in deletion.gone],
                    "bytes": size,
                    "database": opened.place,
                }
            )
        elif len(jobs) > 1 or len(wanted) != 1:
            click.echo(f"{counted(len(deletion.gone), 'job')} deleted: {bytes_text(size)}.")
        if deletion.problem is not None:
            raise deletion.problem


@dataclass(frozen=True, slots=True)
class _Gone:
    """A job that is deleted; ``puzzle``: its puzzle's name, None where that was damaged."""

    job: int
    puzzle: str | None
    bytes: int


class _Deletion:
    """Deletes jobs one after the other. ``gone``: those that are deleted; ``problem``: why others are not."""

    def __init__(self, repository: Jobs, wanted: dict[int, str | None], scratch: Path) -> None:
        self._repository = repository
        self._scratch = scratch
        self._wanted = wanted
        self.gone: list[_Gone] = []
        self.problem: FarthestError | None = None

    def deleted(self) -> Iterator[_Gone]:
        refused: list[str] = []
        for number, name in self._wanted.items():
            try:
                layers = self._layers(number)
                size = self._repository.delete(number)
                found = _Gone(number, name, size + _removed(layers))
            except JobError as error:
                refused.append(str(error))
                continue
            except FarthestError as error:  # of the database: the next would fail as well
                self.problem = error
                return
            self.gone.append(found)
            yield found
        if refused:
            self.problem = JobError("; ".join(refused))

    def _layers(self, number: int) -> Path | None:
        """The folder of the job's layers, where it was stopped and they were in files."""
        from farthest.coordinator.enumeration.folder_run import layers_folder
        from farthest.coordinator.owned_job import attempt_of

        try:
            return layers_folder(self._scratch, attempt_of(self._repository.get(number)))
        except UnavailableError:
            raise
        except FarthestError:  # a damaged job must be removable
            return None


def _removed(layers: Path | None) -> int:
    """The bytes that a folder of layers gave back."""
    from farthest.stores.folder.journal import remove_layers

    return 0 if layers is None else remove_layers(layers)


def _wanted(repository: Jobs, texts: Sequence[str]) -> dict[int, str | None]:
    """The jobs that are meant, none twice, and their puzzles' names. Raises JobError where one that is named alone does
    not exist."""
    found: dict[int, str | None] = {}
    for text in texts:
        limits = _RANGE.fullmatch(text.strip())
        if limits is None:
            try:
                number, name = repository.find_to_delete(text)
            except JobError as error:
                raise error if len(texts) == 1 else JobError(f"{error}; nothing was deleted") from None
            found[number] = name
            continue
        first, last = map(int, limits.groups())
        if first > last:
            raise JobError(f"range {text}: it ends before it begins; expected {last}-{first}")
        for number in repository.between(first, last):
            found[number] = repository.find_to_delete(str(number))[1]
    return found


def _one(texts: Sequence[str], deletion: _Deletion) -> bool:
    return len(texts) == 1 and _RANGE.fullmatch(texts[0].strip()) is None and len(deletion.gone) == 1
