"""What an enumeration by Celery workers takes, by their number: the model of docs/scaling.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.cluster_model import Cluster, predict
from farthest.coordinator.enumeration.cluster_shape import Shape, simulated_locality
from farthest.coordinator.enumeration.expected_layers import expected_layers
from farthest.coordinator.settings import WorkersEstimate
from farthest.environment import BLOBS, BLOCK_SIZE, REDIS_NODES, WORKER_MEMORY
from farthest.spaces.contract import gather
from farthest.stores.blobs.place import REDIS
from farthest.stores.memory.residues import gathered_form

if TYPE_CHECKING:
    from farthest.coordinator.settings import Settings
    from farthest.spaces.contract import Space


def worker_needs(space: Space, settings: Settings, processes: Sequence[int]) -> tuple[WorkersEstimate, ...]:
    """By the numbers of processes, each on a core of its own. Nothing where the space is not one of bitmaps, whose time
    by workers the model does not know."""
    if space.engine != "gather":
        return ()
    shape = Shape.of_space(gather(space), BLOCK_SIZE.size(), ())
    layers = expected_layers(
        space, keys=shape.keys, in_place=shape.exclude == "before", max_depth=settings.max_depth
    )
    shape = shape.with_layers(layers.states)
    found = []
    for number in processes:
        cluster = Cluster(
            workers=number,
            nodes=1 + len(REDIS_NODES.text().split()),
            worker_memory=WORKER_MEMORY.size(),
            histogram_only=not settings.keeps_distances,
            residues=gathered_form(gather(space), settings.max_depth) if settings.residues else None,
            blobs_in_redis=BLOBS.text() == REDIS,
        )
        prediction = predict(shape, cluster, simulated_locality(shape, number, cluster.worker_memory))
        found.append(
            WorkersEstimate(
                processes=number,
                seconds=prediction.seconds,
                redis=int(prediction.peak),
                blobs=int(prediction.blobs),
                memory=int(prediction.worker_bytes),
                coordinator_memory=int(prediction.coordinator_bytes),
                messages=max(layer.messages for layer in prediction.layers),
                waits_for=prediction.bound,
            )
        )
    return tuple(found)
