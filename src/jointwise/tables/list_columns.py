"""Columns of results with several configurations per row: all solutions of a pose, or a plan."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.results.plan import Plan
from jointwise.results.solutions import SolutionsBatch
from jointwise.results.status import PlanStatus, SolutionsStatus
from jointwise.tables.result_columns import Lists, ResultColumns, status_names
from jointwise.tables.units import to_display


class SolutionColumns(ResultColumns):
    """The columns of all solutions: a list for each joint, their number, and completeness."""

    def _joint_values(self, results: SolutionsBatch) -> Sequence[Lists]:
        q, counts = results.q, results.counts
        listed = q[np.arange(q.shape[1]) < counts[:, None]]
        return _lists(to_display(self.model, listed, self.in_degrees), counts)

    def _outcome(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "status": lambda found: status_names(solution_codes(found), SolutionsStatus),
            "solutions": lambda found: found.counts,
            "complete": lambda found: found.complete,
            "continuum": lambda found: found.continuum,
        }


class PlanColumns(ResultColumns):
    """The columns of plans: a list of waypoints for each joint, then how planning ended."""

    def _joint_values(self, results: Sequence[Plan]) -> Sequence[Lists]:
        listed = [np.empty((0, self.model.n)), *(plan.waypoints for plan in results)]
        counts = np.array([len(plan.waypoints) for plan in results], np.int64)
        return _lists(to_display(self.model, np.concatenate(listed), self.in_degrees), counts)

    def _outcome(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "status": lambda plans: status_names(plan_codes(plans), PlanStatus),
            "samples": lambda plans: np.array([plan.samples for plan in plans], np.int64),
            "length": lambda plans: np.array([plan.length for plan in plans], float),
        }


def solution_codes(found: SolutionsBatch) -> Ints:
    """(m,) codes of ``SolutionsStatus``."""
    none = np.where(found.complete, SolutionsStatus.PROVABLY_NONE, SolutionsStatus.NOT_FOUND)
    return np.where(found.counts > 0, SolutionsStatus.FOUND, none).astype(np.uint8)


def plan_codes(plans: Sequence[Plan]) -> Ints:
    """(m,) codes of ``PlanStatus``."""
    return np.array([int(plan.status) for plan in plans], np.uint8)


def _lists(values: Floats, counts: Ints) -> list[Lists]:
    """A column of lists for each joint, from (sum of counts, n) values."""
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return [Lists(offsets, np.ascontiguousarray(column)) for column in values.T]
