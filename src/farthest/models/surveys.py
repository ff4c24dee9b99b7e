"""Surveys in the database: their parts and components."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from farthest.cosets import CosetRow, CosetSet, Drawn
from farthest.errors import JobError, StorageError
from farthest.models.database import Database
from farthest.models.records import ComponentRecord, SurveyPartRecord, SurveyRecord, fields_of, now
from farthest.models.sealing import canonical, damaged
from farthest.models.tables import component, lock_schema, survey, survey_part
from farthest.starts import NOTHING, Component, Counts, Found, Part, Starts, starts_of
from farthest.typed import decode
from farthest.untrusted_json import read_json_object

By = Literal["moves", "states"]
Done = tuple[int, Found, float]
"""A part, what it has found, and the seconds that it took."""
MOST = 2**31 - 1
"""Of an integer that databases are asked for."""

PARTS_READ = 1000
"""At once: so much memory a reader of a large survey takes."""

_COMPONENT = tuple(component.c[one.name] for one in fields_of(ComponentRecord))
_SURVEY = (survey.c.id, *(survey.c[one.name] for one in fields_of(SurveyRecord)))


@dataclass(frozen=True, slots=True, repr=False)
class StoredSurvey:
    """A survey, of which so many parts are ``done``; ``seconds``: of all these together; ``components`` are kept."""

    id: int
    record: SurveyRecord
    done: int
    seconds: float
    components: int

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {self.name}; {self.done} of {self.record.parts} parts>"

    @property
    def name(self) -> str:
        """The set, and what tells it from others of that name, as far as that can be read."""
        with suppress(StorageError):
            return f"{self.record.name}: {self.starts}"
        return self.record.name

    @property
    def finished(self) -> bool:
        """Whether all parts are done."""
        return self.done == self.record.parts

    @property
    def of_cosets(self) -> bool:
        """Whether its parts are cosets."""
        try:
            return read_json_object(self.record.starts_of).get("kind") == "cosets"
        except ValueError:
            return False

    @property
    def starts(self) -> Starts:
        """What it is of. Raises StorageError where that is damaged."""
        try:
            return starts_of(read_json_object(self.record.starts_of))
        except ValueError as error:
            raise damaged("survey", self.id, f"column starts_of: {error}", survey=self.id) from None


class Surveys:
    """The surveys of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, starts: Starts, parts: int | None) -> StoredSurvey:
        """The survey of these starts, a new one where there is none. ``parts``: of a new one; None: as the set says."""
        text = canonical(starts.fields())
        known = select(survey.c.id).where(survey.c.starts_of == text)
        with self._database.read() as connection:
            found = connection.execute(known).scalar()
        if found is None:
            divided = starts.parts if parts is None else parts
            with self._database.write() as connection:
                lock_schema(connection)
                found = connection.execute(known).scalar()  # another process may have been first
                if found is None:
                    row = asdict(SurveyRecord(starts.name, text, divided, now()))
                    found = connection.execute(insert(survey).values(row)).inserted_primary_key[0]  # type: ignore[index]
                    _take_over(connection, starts, found, divided)
        begun = self.get(found)
        if begun.record.parts < 1:
            raise damaged("survey", found, f"column parts: {begun.record.parts}", survey=found)
        return begun

    def missing(self, survey_id: int) -> list[int]:
        """The parts that are not done, ascending. Raises JobError where the survey was deleted."""
        with self._database.read() as connection:
            parts = connection.execute(select(survey.c.parts).where(survey.c.id == survey_id)).scalar()
            done = set(
                connection.execute(
                    select(survey_part.c.part).where(survey_part.c.survey_id == survey_id)
                ).scalars()
            )
        if parts is None:
            raise JobError(f"survey {survey_id} was deleted")
        return [part for part in range(parts) if part not in done]

    def store(self, survey_id: int, done: list[Done]) -> set[int]:
        """Stores parts, all or none, unless they are stored already. Those that were new. Raises JobError where the
        survey was deleted."""
        with self._database.write() as connection:
            # Coordinators of one survey store one after another.
            lock = select(survey.c.id).where(survey.c.id == survey_id).with_for_update()
            if connection.execute(lock).scalar() is None:
                raise JobError(f"survey {survey_id} was deleted")
            known = select(survey_part.c.part).where(
                survey_part.c.survey_id == survey_id, survey_part.c.part.in_([part for part, *_ in done])
            )
            before = set(connection.execute(known).scalars())
            fresh = [each for each in done if each[0] not in before]
            records = [
                SurveyPartRecord(part, seconds, canonical(_totals_of(found)), digest_of(found))
                for part, found, seconds in fresh
            ]
            rows = [
                ComponentRecord(part, number, *each[:5], ",".join(map(str, each.layers)))
                for part, found, _ in fresh
                for number, each in enumerate(found.components if isinstance(found, Part) else ())
            ]
            for table, made in ((survey_part, records), (component, rows)):
                if made:
                    connection.execute(
                        insert(table), [{"survey_id": survey_id, **asdict(each)} for each in made]
                    )
        return {part for part, *_ in fresh}

    def all(self) -> list[StoredSurvey]:
        """All surveys, the oldest first."""
        return self._stored(None)

    def get(self, survey_id: int) -> StoredSurvey:
        """Raises JobError where there is none of that number."""
        found = self._stored(survey_id) if 0 < survey_id <= MOST else []
        if not found:
            raise JobError(
                f"{self._database.place} has no survey {survey_id}; `farthest surveys` lists those that it has"
            )
        return found[0]

    def _stored(self, survey_id: int | None) -> list[StoredSurvey]:
        """The survey of that number, or all."""
        wanted = [] if survey_id is None else [survey_id]
        surveys = select(*_SURVEY).order_by(survey.c.id)
        sums = select(survey_part.c.survey_id, func.count(), func.sum(survey_part.c.seconds))
        counts = select(component.c.survey_id, func.count())
        with self._database.read() as connection:
            rows = connection.execute(surveys.where(*(survey.c.id == one for one in wanted))).all()
            of_parts = sums.where(*(survey_part.c.survey_id == one for one in wanted))
            done = {
                one: (int(parts), float(seconds))
                for one, parts, seconds in connection.execute(of_parts.group_by(survey_part.c.survey_id))
            }
            of_rows = counts.where(*(component.c.survey_id == one for one in wanted))
            kept: dict[int, int] = dict(
                row for row in connection.execute(of_rows.group_by(component.c.survey_id))
            )
        found = []
        for number, *fields in rows:
            parts, seconds = done.get(number, (0, 0.0))
            found.append(StoredSurvey(number, SurveyRecord(*fields), parts, seconds, kept.get(number, 0)))
        return found

    def delete(self, survey_id: int) -> None:
        """Removes a survey with all that it has found. Raises JobError where there is none."""
        self.get(survey_id)
        with self._database.write() as connection:
            connection.execute(delete(survey).where(survey.c.id == survey_id))

    def totals(self, survey_id: int) -> dict[int, Counts]:
        """The sums of the parts that are done, for each number of pieces."""
        return self.totals_and_digest(survey_id)[0]

    def digest(self, survey_id: int) -> str:
        """Of all that the parts have found: equal for equal results, however they are divided and whoever did them."""
        if self.get(survey_id).of_cosets:
            return self.digest_of_cosets(row for row, _ in self.cosets(survey_id))
        return self.totals_and_digest(survey_id)[1]

    def totals_and_digest(self, survey_id: int) -> tuple[dict[int, Counts], str]:
        """Both of a survey that is not of cosets: its parts are read once."""
        sums: dict[int, Counts] = {}
        rows = 0
        for record in self._parts(survey_id):
            try:
                rows += int(record.digest, 16)
            except (TypeError, ValueError):
                raise _damaged_part(survey_id, record, "column digest: expected 64 hex digits") from None
            totals = _read_totals(survey_id, record)
            rows -= _hashed(msgspec.to_builtins(totals))
            for pieces, counts in totals.items():
                sums[pieces] = sums.get(pieces, NOTHING) + counts
        sums = dict(sorted(sums.items()))
        return sums, f"{_hashed([rows % _MODULUS, msgspec.to_builtins(sums)]):064x}"

    @staticmethod
    def digest_of_cosets(rows: Iterable[CosetRow]) -> str:
        """The digest of a survey from all that it has found."""
        return f"{_hashed([*map(digest_of, rows)]):064x}"

    def top(self, survey_id: int, by: By, limit: int, pieces: int | None = None) -> list[Component]:
        """The components with the most moves, or states, at most ``limit``; with so many pieces."""
        moves, states = component.c.moves.desc(), component.c.states.desc()
        statement = select(*_COMPONENT).where(component.c.survey_id == survey_id)
        if by == "moves":
            statement = statement.where(component.c.moves.is_not(None)).order_by(moves, states)
        else:
            statement = statement.order_by(states, moves.nulls_last())
        if pieces is not None:
            statement = statement.where(component.c.pieces == pieces)
        statement = statement.order_by(component.c.part, component.c.number).limit(limit)
        with self._database.read() as connection:
            return [_component(survey_id, row) for row in connection.execute(statement)]

    def components(self, survey_id: int) -> Iterator[Component]:
        """All that are kept, part by part. Raises StorageError where they are not what was stored."""
        for record in self._parts(survey_id):
            statement = (
                select(*_COMPONENT)
                .where(component.c.survey_id == survey_id, component.c.part == record.part)
                .order_by(component.c.number)
            )
            with self._database.read() as connection:
                found = [_component(survey_id, row) for row in connection.execute(statement)]
            if digest_of(Part(_read_totals(survey_id, record), found)) != record.digest:
                raise _damaged_part(survey_id, record, "it is not what was stored")
            yield from found

    def cosets(self, survey_id: int) -> Iterator[tuple[CosetRow, float]]:
        """What has been found of cosets, and the seconds that each took. Raises StorageError where that is not what was
        stored."""
        for record in self._parts(survey_id):
            yield _read_coset(survey_id, record), record.seconds

    def _parts(self, survey_id: int) -> Iterator[SurveyPartRecord]:
        """So many at a time: no transaction is open while they are used."""
        columns = [survey_part.c[one.name] for one in fields_of(SurveyPartRecord)]
        statement = select(*columns).where(survey_part.c.survey_id == survey_id).order_by(survey_part.c.part)
        last = -1
        while True:
            with self._database.read() as connection:
                rows = connection.execute(statement.where(survey_part.c.part > last).limit(PARTS_READ)).all()
            for row in rows:
                yield (record := SurveyPartRecord(*row))
                last = record.part
            if len(rows) < PARTS_READ:
                return


def _take_over(connection: Connection, starts: Starts, survey_id: int, parts: int) -> None:
    """What other surveys have found of the same cosets counts in a new one too."""
    source = _source(starts)
    others = select(survey.c.id, survey.c.starts_of).where(survey.c.name == starts.name)
    names = [one.name for one in fields_of(SurveyPartRecord)]
    for other, text in connection.execute(others.where(survey.c.id != survey_id)).all():
        with suppress(ValueError):  # who asks for that survey is told that it is damaged
            if source and _source(starts_of(read_json_object(text))) == source:
                done = select(survey_part.c.part).where(survey_part.c.survey_id == survey_id)
                rows = (
                    select(*(survey_part.c[name] for name in names))
                    .where(survey_part.c.survey_id == other, survey_part.c.part < parts)
                    .where(survey_part.c.part.not_in(done))
                )
                whole = []
                for row in connection.execute(rows):
                    with suppress(StorageError):  # one that is damaged is done again
                        _read_coset(other, record := SurveyPartRecord(*row))
                        whole.append({"survey_id": survey_id, **asdict(record)})
                if whole:
                    connection.execute(insert(survey_part), whole)


def _source(starts: Starts) -> object:
    """What decides the cosets of parts, whatever the puzzle's title; None where they are none. Of those at random the
    first are those of fewer with the same seed."""
    if not isinstance(starts, CosetSet):
        return None
    chosen = starts.chosen.seed if isinstance(starts.chosen, Drawn) else starts.chosen
    return starts.puzzle.digest, starts.subgroup, starts.depth, chosen


def _read_totals(survey_id: int, record: SurveyPartRecord) -> dict[int, Counts]:
    try:
        return decode(record.totals, dict[int, Counts])
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise _damaged_part(survey_id, record, f"column totals: {error}") from None


def _read_coset(survey_id: int, record: SurveyPartRecord) -> CosetRow:
    try:
        row = decode(record.totals, CosetRow)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise _damaged_part(survey_id, record, f"column totals: {error}") from None
    if digest_of(row) != record.digest:
        raise _damaged_part(survey_id, record, "it is not what was stored")
    return row


def _damaged_part(survey_id: int, record: SurveyPartRecord, what: str) -> StorageError:
    return damaged("survey_part", f"{record.part} of survey {survey_id}", what, survey=survey_id)


_MODULUS = 1 << 256


def _hashed(value: Any) -> int:
    """The SHA-256 of the canonical JSON."""
    return int.from_bytes(hashlib.sha256(canonical(value).encode()).digest())


def _totals_of(found: Found) -> Any:
    """What the column ``totals`` has."""
    return msgspec.to_builtins(found.totals if isinstance(found, Part) else found)


def digest_of(found: Found) -> str:
    """The digest of what a part has found: the sum of its rows' SHA-256 and that of its totals, modulo 2^256."""
    rows = sum(_hashed(list(each)) for each in found.components) if isinstance(found, Part) else 0
    return f"{(rows + _hashed(_totals_of(found))) % _MODULUS:064x}"


def _component(survey_id: int, row: Any) -> Component:
    try:
        record = ComponentRecord(*row)
        layers = [int(states) for states in record.layers.split(",")] if record.layers else []
        return Component(record.pieces, record.states, record.moves, record.minimal, record.board, layers)
    except (ValueError, AttributeError) as error:
        raise damaged(
            "component", f"{row[0]}, {row[1]} of survey {survey_id}", str(error), survey=survey_id
        ) from None
