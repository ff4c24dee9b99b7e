"""What searches store, and that names of puzzles never mean them."""

import pytest
from sqlalchemy import func, select

from farthest.errors import JobError
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.records import FINISHED, SEARCH, IterationRecord, SubtreeRecord
from farthest.models.searches import Searches
from farthest.models.tables import iteration, solution, subtree

ME = "host/1/0"
DONE = IterationRecord(3, 10, 0, 1, 0.5, 5, complete=True)
UNDER_WAY = IterationRecord(5, 20, 4**40, 4, 0.25, None, complete=False, kept=2)
OPEN = SubtreeRecord("3.0", 3, "[[1,0],1,-1,[]]", None)
FOUND = SubtreeRecord("4", 4, None, "[1,0,[],null,[]]")


@pytest.fixture
def searches(database: Database) -> Searches:
    return Searches(database)


@pytest.fixture
def search(jobs: Jobs) -> int:
    return jobs.add('{"p": 1}', "d", "fifteen", {"board": "b", "target": "goal"}, {}, ME, kind=SEARCH)


def test_what_is_committed_is_read_back(searches: Searches, jobs: Jobs, search: int) -> None:
    searches.commit(search, [DONE, UNDER_WAY], [OPEN, FOUND], [], [(0, '["R"]')], owner=ME)
    assert searches.iterations(search) == [DONE, UNDER_WAY]
    assert sorted(searches.pieces(search), key=lambda one: one.place) == [OPEN, FOUND]
    assert (searches.solutions(search), searches.listed(search)) == ([["R"]], 1)
    assert (jobs.get(search).kind, jobs.get(search).depth) == (SEARCH, 5)


def test_a_later_commit_takes_the_place_of_what_changed(searches: Searches, search: int) -> None:
    searches.commit(search, [UNDER_WAY], [OPEN, FOUND], [], [], owner=ME)
    ended = SubtreeRecord("3.0", 3, None, "[2,0,[],null,[]]")
    more = IterationRecord(5, 30, 2, 5, 0.5, None, complete=False)
    searches.commit(search, [more], [ended], ["4"], [(0, "[]"), (1, "[]")], owner=ME)
    assert searches.iterations(search) == [more]
    assert searches.pieces(search) == [ended]
    assert searches.solutions(search, limit=1) == [[]]


def test_the_result(searches: Searches, jobs: Jobs, search: int) -> None:
    searches.commit(search, [DONE], [OPEN], [], [(0, "[]")], owner=ME)
    searches.finish(search, {"length": 3}, depth=3, seconds=1.5, digest="ab", owner=ME)
    record = jobs.get(search)
    assert (record.status, record.depth, record.seconds, record.digest) == (FINISHED, 3, 1.5, "ab")
    assert (record.result, record.owner, record.has_map, record.states) == ({"length": 3}, None, False, None)
    assert searches.pieces(search) == []


def test_what_another_has_taken_over_is_not_changed(searches: Searches, search: int) -> None:
    with pytest.raises(JobError, match="taken over"):
        searches.commit(search, [DONE], [OPEN], [], [], owner="host/2/0")
    with pytest.raises(JobError, match="taken over"):
        searches.finish(search, {}, depth=3, seconds=1, digest="", owner="host/2/0")
    assert (searches.iterations(search), searches.pieces(search)) == ([], [])


def test_deleting_removes_all(searches: Searches, jobs: Jobs, database: Database, search: int) -> None:
    searches.commit(search, [DONE], [OPEN], [], [(0, "[1234]")], owner=ME)
    jobs.interrupt(search)
    assert jobs.delete(search) == 6
    with database.read() as connection:
        for table in (iteration, subtree, solution):
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0


def test_a_name_never_means_a_search(searches: Searches, jobs: Jobs, search: int) -> None:
    searches.finish(search, {"length": 3}, depth=3, seconds=1, digest="", owner=ME)
    with pytest.raises(JobError, match=r"its searches are named by number \(1\)"):
        jobs.find("fifteen")
    assert jobs.find("1").kind == SEARCH
    with pytest.raises(JobError, match="is a search of one board"):
        jobs.find("1", has_map=True)
    enumeration = jobs.add('{"p": 1}', "d", "fifteen", {}, {}, ME)
    jobs.finish(
        enumeration,
        states=1,
        eccentricity=0,
        depth=0,
        complete=True,
        has_map=True,
        digest="",
        seconds=0,
        owner=ME,
    )
    jobs.add('{"p": 1}', "d", "fifteen", {"board": "c"}, {}, ME, kind=SEARCH)
    assert jobs.find("fifteen").id == enumeration


def test_a_search_is_not_queued(jobs: Jobs, search: int) -> None:
    with pytest.raises(JobError, match="only enumerations can be queued; it is running"):
        jobs.requeue(search)
    jobs.interrupt(search, owner=ME)
    with pytest.raises(JobError, match="to go on with it, give the same `farthest solve` command"):
        jobs.requeue(search)
    assert jobs.claim_next("host/3/0") is None


@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_what_has_ended_is_not_said_to_go_on(searches: Searches, jobs: Jobs, search: int, end: str) -> None:
    if end == "finished":
        searches.finish(search, {}, depth=3, seconds=1, digest="", owner=ME)
    else:
        jobs.cancel(search)
    with pytest.raises(JobError, match=f"it is {end}") as raised:
        jobs.requeue(search)
    assert "goes on" not in str(raised.value)
