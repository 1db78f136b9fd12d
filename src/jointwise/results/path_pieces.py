"""The pieces of a plan's path: straight edges, and parabolas that replace corners."""

from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats

# Largest number of configurations of a resampled path.
MAX_RESAMPLED = 10_000_000
# How often a blend is halved, at most, before its corner stays; and its smallest length [rad, m].
MAX_HALVINGS, SHORTEST = 5, 1e-3
# Number of segments whose lengths are summed to the length of a blend.
PARTS = 64
# Largest rest of an edge, as a share of it, between two blends that should meet.
NOTHING_LEFT = 1e-12


class Piece(NamedTuple):
    """The motion start + p slope + p² bend, with p from 0 to 1.

    Attributes:
        start: (n,) where it begins [rad, m].
        slope: (n,) its derivative there.
        bend: (n,) half the second derivative; zeros for an edge or the rest of one.
        end: (n,) where it ends.
        places: Its beginning, middle and end as places on the path: 2.25 is a quarter of the way
            from waypoint 2 to 3.
        is_blend: Whether it replaces a corner.
    """

    start: Floats
    slope: Floats
    bend: Floats
    end: Floats
    places: tuple[float, float, float]
    is_blend: bool

    @property
    def last_slope(self) -> Floats:
        """(n,) its derivative at the end."""
        last: Floats = self.slope + 2.0 * self.bend
        return last

    @property
    def largest_slope(self) -> Floats:
        """(n,) the largest derivative of each joint, which is the one at the start or the end."""
        largest: Floats = np.maximum(np.abs(self.slope), np.abs(self.last_slope))
        return largest

    def at(self, shares: Floats) -> Floats:
        """(m, n) configurations at shares (m,) of the piece."""
        p = shares[:, None]
        q: Floats = self.start + p * (self.slope + p * self.bend if self.is_blend else self.slope)
        q[shares == 1.0] = self.end
        return q

    def slope_at(self, shares: Floats) -> Floats:
        """(m, n) derivatives at shares (m,) of the piece."""
        slopes: Floats = self.slope + shares[:, None] * (2.0 * self.bend)
        return slopes

    def places_at(self, shares: Floats) -> Floats:
        """(m,) the places on the path of shares of the piece."""
        places: Floats = np.interp(shares, (0.0, 0.5, 1.0), self.places)
        return places

    @property
    def length(self) -> float:
        """Its length, by the norm of the joint values [rad, m]."""
        q = self.at(np.linspace(0.0, 1.0, PARTS + 1 if self.is_blend else 2))
        return float(np.linalg.norm(np.diff(q, axis=0), axis=1).sum())


def pieces_of(waypoints: Floats, blends: Floats) -> list[Piece]:
    """The pieces of a path (k, n) whose corners are replaced by blends, as in ``Plan.blends``."""
    lengths = np.linalg.norm(np.diff(waypoints, axis=0), axis=1)
    pieces = []
    for i, (before, after) in enumerate(pairwise(waypoints)):
        change = after - before
        first = blends[i] / lengths[i] if blends[i] else 0.0
        last = 1.0 - blends[i + 1] / lengths[i] if blends[i + 1] else 1.0
        if blends[i]:
            pieces.append(corner_piece(waypoints, i, float(blends[i])))
        if last - first > NOTHING_LEFT:
            start = before + first * change if first else before
            end = before + last * change if last < 1.0 else after
            places = i + first, i + 0.5 * (first + last), i + last
            pieces.append(Piece(start, end - start, np.zeros_like(start), end, places, False))
    return pieces


def corner_piece(waypoints: Floats, i: int, length: float) -> Piece:
    """The blend that replaces waypoint i of a path (k, n) and ``length`` of the edges beside it."""
    corner, (into, out) = waypoints[i], np.diff(waypoints[i - 1 : i + 2], axis=0)
    before, after = length / float(np.linalg.norm(into)), length / float(np.linalg.norm(out))
    start, end = corner - before * into, corner + after * out
    bend = after * out - before * into
    return Piece(start, 2.0 * before * into, bend, end, (i - before, float(i), i + after), True)


def proven_blends(waypoints: Floats, longest: float, is_free: Callable[[Piece], bool]) -> Floats:
    """(k,) the lengths of the longest blends that are proven free; 0 where a corner stays.

    Args:
        waypoints: (k, n) joint values [rad, m].
        longest: Limit of the lengths [rad, m].
        is_free: Whether a blend is proven free.
    """
    blends, lengths = np.zeros(len(waypoints)), np.linalg.norm(np.diff(waypoints, axis=0), axis=1)
    for i, (before, after) in enumerate(pairwise(lengths.tolist()), 1):
        length = min(longest, 0.5 * before, 0.5 * after)
        for _ in range(MAX_HALVINGS + 1):
            if length < SHORTEST:
                break
            if is_free(corner_piece(waypoints, i, length)):
                blends[i] = length
                break
            length *= 0.5
    return blends


def resampled_pieces(start: Floats, pieces: list[Piece], step: float) -> tuple[Floats, Floats]:
    """(m, n) configurations at most ``step`` apart, and (m,) their places on the path."""
    counts = [np.ceil(piece.largest_slope.max(initial=0.0) / step) for piece in pieces]
    if sum(counts) > MAX_RESAMPLED:
        raise InvalidInputError(
            f"step is {step:g}: the path would have more than {MAX_RESAMPLED:,} configurations. "
            "Raise it."
        )
    rows, places = [start[None]], [np.zeros(1)]
    for piece, count in zip(pieces, counts, strict=True):
        parts = max(int(count), 1)
        shares = np.arange(1, parts + 1) / parts
        rows.append(piece.at(shares))
        places.append(piece.places_at(shares))
    return np.concatenate(rows), np.concatenate(places)


def boundary_speeds(pieces: list[Piece], velocity: Floats, acceleration: Floats) -> Floats:
    """(m + 1,) the highest speeds at the ends of m pieces, by the norm [rad/s, m/s].

    The speed is zero at both ends of the path and where two edges meet; along a blend its parameter
    grows linearly with time, so the acceleration is constant. Blends have the same speed at both
    ends.

    Args:
        pieces: Each has a length above zero.
        velocity: (n,) velocity limits [rad/s, m/s].
        acceleration: (n,) acceleration limits [rad/s², m/s²].
    """
    speeds, squares = np.full(len(pieces) + 1, inf), []
    speeds[[0, -1]] = 0.0
    for i, piece in enumerate(pieces):
        if piece.is_blend:
            rate = least_share(velocity, piece.largest_slope)
            rate = min(rate, least_share(acceleration, 2.0 * piece.bend) ** 0.5)
            squares.append(0.0)
        else:
            rate = least_share(velocity, piece.slope)
            push = least_share(acceleration, piece.slope)
            squares.append(2.0 * push * float(piece.slope @ piece.slope))
            if i and not pieces[i - 1].is_blend:
                speeds[i] = 0.0
        limit = rate * float(np.linalg.norm(piece.slope))
        speeds[i : i + 2] = np.minimum(speeds[i : i + 2], limit)
    for i, square in enumerate(squares):
        speeds[i + 1] = min(speeds[i + 1], (speeds[i] ** 2 + square) ** 0.5)
    for i, square in reversed(list(enumerate(squares))):
        speeds[i] = min(speeds[i], (speeds[i + 1] ** 2 + square) ** 0.5)
    return speeds


def least_share(limits: Floats, change: Floats) -> float:
    """The largest rate [1/s, 1/s²] at which a change of the joints keeps their limits."""
    moves = change != 0.0
    return float((limits[moves] / np.abs(change[moves])).min(initial=inf))
