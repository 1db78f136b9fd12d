"""Clusters of spheres, each with a small sphere around it."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    BOUND_RADIUS,
    BOUND_SPREAD,
    CLUSTER_NUMBERS,
    CLUSTER_SIZE,
)

# Steps towards the farthest sphere, to find a small sphere around a cluster.
BOUND_STEPS = 100


def clusters_of(spheres: Floats) -> list[Floats]:
    """Spheres (k, 4) in compact clusters: halved along the longest side."""
    if len(spheres) <= CLUSTER_SIZE:
        return [spheres]
    longest = np.ptp(spheres[:, :3], axis=0).argmax()
    ordered = spheres[spheres[:, longest].argsort(kind="stable")]
    half = len(ordered) // 2
    return clusters_of(ordered[:half]) + clusters_of(ordered[half:])


def cluster_bounds(clusters: list[Floats]) -> Floats:
    """(s, 7) small spheres around clusters, all at once (Badoiu and Clarkson)."""
    if not clusters:
        return np.empty((0, CLUSTER_NUMBERS))
    counts = [len(each) for each in clusters]
    padded = np.stack([each[np.arange(CLUSTER_SIZE) % len(each)] for each in clusters])
    centres, radii = padded[..., :3], padded[..., 3]
    centre, every = centres.mean(axis=1), np.arange(len(padded))
    best, least = centre, np.full(len(padded), np.inf)
    for step in range(1, BOUND_STEPS):
        reach = np.linalg.norm(centres - centre[:, None], axis=2) + radii
        farthest = reach.argmax(axis=1)
        most = reach[every, farthest]
        best = np.where((most < least)[:, None], centre, best)
        least = np.minimum(most, least)
        away = centres[every, farthest] - centre
        length = np.maximum(np.linalg.norm(away, axis=1), 1e-300)
        centre = centre + away * (most / length / (step + 1))[:, None]
    bounds = np.zeros((len(padded), CLUSTER_NUMBERS))
    bounds[:, :3], bounds[:, BOUND_RADIUS] = best, least * (1.0 + 1e-12)
    bounds[:, BOUND_SPREAD] = np.linalg.norm(centres - best[:, None], axis=2).max(axis=1)
    bounds[:, BOUND_END] = np.cumsum(counts)
    bounds[:, BOUND_FIRST] = bounds[:, BOUND_END] - counts
    return bounds
