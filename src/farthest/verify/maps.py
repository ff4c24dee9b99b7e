"""Proof of a stored map with all distances: the frame that is the same for each way to prove them."""

from __future__ import annotations

from collections.abc import Iterable

from farthest.errors import ForbiddenCodeError
from farthest.families.sliding.definition import Sliding
from farthest.spaces.contract import REPRESENTATIVES
from farthest.verify.local import MapProof, Means, Piece, StateProof, count_layers, gather
from farthest.verify.models import LayoutError, model_of
from farthest.verify.models.python import stored_form
from farthest.verify.report import Proof, Report, Stored
from farthest.verify.representatives import ReducedProof
from farthest.verify.sliding import PatternProof, SlidingProof


def verify_map(stored: Stored, pieces: Iterable[Piece], means: Means, *, unit: str, length: int) -> Report:
    """Prove a distance map, or find where it is wrong: a map that fails gives a failed Report.

    ``pieces``: the whole map in order; ``unit``: of its distances ("uint8" or "uint16"; the largest value stands for
    unreachable). ``length``: how many distances a sparse map should hold.

    Where the puzzle is a class that may not run, moves and boards are not checked, and the report says so. The map, a
    flag for each key or state, and the codes of a sparse map are in memory, or in files of the scratch folder where
    they are more than three quarters of what is allowed. Raises BoardError when the origin's text is not a board of the
    puzzle, StorageError when the files have no room.
    """
    proof = Proof(stored.puzzle.name, str(stored.origin))
    states: MapProof | None = None
    proof.keys = length
    try:
        try:
            states = _proof_of(stored, means)
            form = (states.keys, states.code_bytes)
            proof.arrangements = states.arrangements
        except ForbiddenCodeError as refused:
            proof.unproved = str(refused)
            form = stored_form(stored.layout)
            proof.arrangements = form[0] or 256 ** form[1] - 1
    except LayoutError as error:
        return proof.wrong_layout(str(error))
    keys, code_bytes = form
    proof.keys = length if keys is None else keys
    if states is not None and states.layout_detail:
        proof.check("layout", 1, 0, states.layout_detail)
    whole, problem = gather(
        pieces, proof.keys, unit, code_bytes if keys is None else None, stored.depth, means
    )
    proof.check("length", proof.keys, 1 if problem else 0, problem)
    if whole is None:
        return proof.report("not counted: the map is not whole")
    if states is None:
        proof.counts = count_layers(whole)
    else:
        states.prove(proof, whole)
    proof.digest = whole.digest(proof.counts, stored.digest)
    proof.compare(stored, whole.distances.dtype.name)
    if states is None:
        return proof.report(f"{sum(proof.counts):,} states; at most {proof.arrangements:,} are possible")
    if stored.rows is not None:
        found = states.compare_rows(whole, stored.rows, proof.counts)
        proof.rows(found, None if found.key is None else states.explain(whole, found.key))
    proof.compare_known(
        stored,
        lambda most: states.texts(whole, whole.first_places(len(proof.counts) - 1, most)),
        lambda: states.nearest_goal(whole),
    )
    return proof.report(states.total(sum(proof.counts)))


def _proof_of(stored: Stored, means: Means) -> MapProof:
    """How the distances are proved. Raises LayoutError."""
    definition, kind = stored.puzzle.definition, stored.layout.get("kind")
    if kind == REPRESENTATIVES:
        return ReducedProof(stored, means)
    if isinstance(definition, Sliding) and kind != "packed":
        return PatternProof(stored) if definition.blanks else SlidingProof(stored, means)
    return StateProof(stored, model_of(stored.puzzle, stored.origin, stored.layout), means)
