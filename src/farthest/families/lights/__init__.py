"""The family ``lights``: lamps of two or more colours; a press changes a lamp and its neighbours to the next colour."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "lights",
    metrics=("press", "multi"),
    default_origin="to goal",
    example="size = [5, 5]",
    forms=(
        ("lights-ROWSxCOLUMNS", "Lights Out"),
        ("lights-torus-ROWSxCOLUMNS", "Lights Out with joined edges"),
        ("lights-ROWSxCOLUMNS-cCOLOURS", "Lights Out with colours"),
    ),
    table="definition.LightsTable",
    definition="definition.Lights",
    parametric="definition.plain_lights",
    solvable="space.solvable",
    picture="definition.picture",
    hold="definition.hold",
    canvas="definition.canvas",
)
