"""Datasets of any number of rows or clips, solved chunk by chunk."""

from jointwise.datasets.retarget import ClipOptions, RetargetedClips, retarget_clips
from jointwise.datasets.row_options import DatasetOptions
from jointwise.datasets.solve import SolvedDataset, solve_dataset

__all__ = [
    "ClipOptions",
    "DatasetOptions",
    "RetargetedClips",
    "SolvedDataset",
    "retarget_clips",
    "solve_dataset",
]
