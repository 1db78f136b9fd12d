"""The kernels that Python calls: one table for the native library and for Numba.

``build.py`` compiles them for the library, and ``backends/cpu.py`` gets them from it, or from
their modules. Importing this module does not import Numba.
"""

from typing import Any, NamedTuple

from jointwise.kernels.layout.guard import GuardModel
from jointwise.kernels.layout.paths import LayerEdges
from jointwise.kernels.layout.planning import PlanRows
from jointwise.kernels.layout.task import PackedProblem, Results
from jointwise.kernels.layout.tree import TreeCheck, TreeResults, TreeRows, TreeTracking
from jointwise.kernels.layout.voxels import NextRows, Patterns, Rows, Scores


class Record(NamedTuple):
    """An argument that is a tuple.

    Attributes:
        fields: The types of its fields.
        shape: The class of the tuple; ``tuple`` if it is a plain one.
    """

    fields: tuple[Any, ...]
    shape: type = tuple


class EntryPoint(NamedTuple):
    """A kernel that Python calls.

    Attributes:
        module: Its module in ``kernels``, such as ``serial.search``.
        arguments: Their types: ``d``, ``i`` and ``?`` are a float, an integer and a boolean; ``d2``
            is an array of floats with two axes, ``u1`` one of uint8; ``weights`` is a tuple of 1,
            2, 4 or 10 floats, and the kernel is compiled for each; or a ``Record``.
        results: A letter for each number that is returned; none for nothing.
    """

    module: str
    arguments: tuple[Any, ...]
    results: str = ""


_CRITERIA = Record(("d", "d", "i", "?", "d"))
_SOLVE = ("d1", "d2", "weights", _CRITERIA)
_OUTCOME = "iddii"
_ROWS = Record(("i1", "d2", "?1"), Rows)
_PROBLEM = Record(("d1", "d3", "weights", "d2", _CRITERIA), PackedProblem)
_RESULTS = Record(("d2", "?1", "d1", "d1", "i1", "i1", "u1"), Results)
_BUFFERS = Record(("d1", "i1"))
_TREE_ROWS = Record(("i1", "d1", "d3", _CRITERIA, "d2"), TreeRows)
_TREE_RESULTS = Record(("d2", "d3", "i2"), TreeResults)
_TRACKING = Record(("i1", "d1", "d2", "i1", "d2", "d", "i", "d"), TreeTracking)
_GUARD = Record(("i1", "d1", "d1", "d1", "d2", "d2"), GuardModel)
_TREE_CHECK = Record(("i1", "d1", "i1", "d1", "d1", "d1"), TreeCheck)
_LAYER_EDGES = Record(("d2", "d1", "d3", "i1", "d2", "d2", "d2", "d2"), LayerEdges)
_PLAN = Record(("?", "?", "i", "d", "i"))
_PLAN_ROWS = Record(("d2", "d2", "i1", "d3", "i2"), PlanRows)

ENTRY_POINTS = {
    "ccd": EntryPoint("serial.descent", (*_SOLVE, "d", "i", "d1"), _OUTCOME),
    "ccd_anderson": EntryPoint("serial.descent", (*_SOLVE, "d", "i", "d1"), _OUTCOME),
    "search": EntryPoint("serial.search", (*_SOLVE, "d1"), _OUTCOME),
    "collect_solutions": EntryPoint("serial.search", (*_SOLVE, "i", "d1", "d2"), "i"),
    "solve_rows": EntryPoint("batch.rows", (_PROBLEM, "i", "i", _RESULTS, "i1", _BUFFERS)),
    "evaluate": EntryPoint("serial.steps", (*_SOLVE, "d1"), "ddd??"),
    "sweep_once": EntryPoint("serial.steps", (*_SOLVE, "d1"), "d"),
    "lm_once": EntryPoint("serial.steps", (*_SOLVE, "d1")),
    "update_stall": EntryPoint("serial.lm", ("d", "d", "i"), "di"),
    "clamp_to_limits": EntryPoint("serial.steps", ("d1", "d1")),
    "ordered_solutions": EntryPoint(
        "closed_form.solutions", ("d1", "d1", "d2", "d1", "d", "d", "?", "d2"), "iii"
    ),
    "closed_rows": EntryPoint(
        "closed_form.solution_rows", ("d1", "d1", "d3", "d2", "d1", "d", "i", "i", "d3", "i2")
    ),
    "solve_nearest": EntryPoint(
        "closed_form.solutions", ("d1", "d1", "d2", _CRITERIA, "d1"), _OUTCOME
    ),
    "nearest_rows": EntryPoint(
        "closed_form.solution_rows", ("d1", "d1", "d3", "d2", _CRITERIA, "i", "i", _RESULTS, "i1")
    ),
    "clearances": EntryPoint("collision.contacts", ("d1", "d2", "d2")),
    "free_rows": EntryPoint("collision.contacts", ("d1", "d2", "?1")),
    "edge_states": EntryPoint("collision.edges", ("d1", "d2", "d2", "i1")),
    "configuration_states": EntryPoint("collision.edges", ("d1", "d2", "i1")),
    "scene_distances": EntryPoint("collision.contacts", ("d1", "d2", "d1")),
    "track_rows": EntryPoint(
        "motion.track", ("d1", "d3", "weights", "d2", "d", "i", "d1", "d1", "d2", "u1")
    ),
    "tip_poses": EntryPoint("kinematics.fk", ("d1", "d2", "d3")),
    "frames_and_jacobian": EntryPoint("kinematics.fk", ("d1", "d1", "d3", "d2")),
    "points_within_reach": EntryPoint("kinematics.fk", ("d1", "i", "d2", "d", "?1")),
    "check_poses": EntryPoint("kinematics.poses", ("d3", "?1")),
    "measure": EntryPoint("kinematics.measure", ("d1", "d2", "?1", "d1", "i", "d2")),
    "fill_next_offsets": EntryPoint("batch.voxels", ("?1", "i1", "i1", "i1")),
    "write_targets": EntryPoint(
        "batch.voxels",
        ("d2", Record(("d3", "i1", "?"), Patterns), _ROWS, Record(("i1", "d3", "d2"), NextRows)),
    ),
    "score_voxels": EntryPoint(
        "batch.voxels", ("d1", "d1", "i", _ROWS, Record(("i1", "d2", "d2"), Scores))
    ),
    "solve_tree_rows": EntryPoint(
        "tree.rows", (_TREE_ROWS, "?", Record(("i", "i")), _TREE_RESULTS, "d1", _TREE_CHECK)
    ),
    "tree_contacts": EntryPoint("tree.collision", (_TREE_CHECK, "d2", "?", "d2")),
    "follow_tree": EntryPoint(
        "tree.rows", (_TREE_ROWS, Record(("i", "d", "?")), _TREE_RESULTS, "d1")
    ),
    "track_tree_rows": EntryPoint(
        "motion.tree_track", (_TRACKING, "d3", "d1", "d1", "d2", "d3", "u1")
    ),
    "plan": EntryPoint("planning.connect", ("d1", "d2", "d1", "d2", _PLAN, "d1"), "iii"),
    "plan_rows": EntryPoint("planning.connect", ("d1", "d2", _PLAN_ROWS, _PLAN, "i", "i", "d1")),
    "relax_layer": EntryPoint("planning.layers", (_LAYER_EDGES,)),
    "guard_step": EntryPoint(
        "motion.guard",
        (_GUARD, _TRACKING, "d2", "d1", "d1", Record(("d1", "d1", "d1")), "d1", "d2"),
        "iii",
    ),
}
