"""Singular configurations of arms with six joints, in NumPy, without code of the package."""

import numpy as np

# Which joints are placed at a singularity, counted from 0.
KINDS = {
    "shoulder": (1,),
    "elbow": (2,),
    "wrist": (4,),
    "shoulder, wrist": (1, 4),
    "elbow, wrist": (2, 4),
    "shoulder, elbow": (1, 2),
}
OFFSETS = (0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 1e-3, 1e-2)
# Values of a joint between which the determinant of the Jacobian may change its sign.
SAMPLES = 33


def over_full_turns(chain, seed, count):
    """(count, n) joint values over full turns, and over a metre."""
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (count, chain.n))
    q[:, chain.prismatic] /= 2.0 * np.pi
    return q


def difference(chain, a, b):
    """Largest joint difference of each row of a from b, by full turns at most half of one."""
    d = a - b
    d[..., ~chain.prismatic] = (d[..., ~chain.prismatic] + np.pi) % (2.0 * np.pi) - np.pi
    return np.abs(d).max(axis=-1)


def determinants(chain, q):
    """(m,) determinants of the Jacobian at joint values (m, 6)."""
    frame, columns = np.tile(np.eye(4), (len(q), 1, 1)), []
    for i in range(6):
        frame = frame @ np.vstack([chain.arm.links[i], [0.0, 0.0, 0.0, 1.0]])
        z, p = frame[:, :3, 2].copy(), frame[:, :3, 3].copy()
        motion = np.tile(np.eye(4), (len(q), 1, 1))
        if chain.prismatic[i]:
            motion[:, 2, 3] = q[:, i]
            columns.append(np.hstack([z, np.zeros_like(z)]))
        else:
            c, s = np.cos(q[:, i]), np.sin(q[:, i])
            motion[:, 0, 0], motion[:, 0, 1], motion[:, 1, 0], motion[:, 1, 1] = c, -s, s, c
            columns.append(np.hstack([np.cross(p, z), z]))
        frame = frame @ motion
    return np.linalg.det(np.stack(columns, axis=2))


def singular_values(chain, q, joint, rng):
    """(m,) values of a joint at which each of ``q (m, 6)`` is singular; NaN where there is none.

    0 for a prismatic joint where the determinant changes no sign: some touch zero there.
    """
    half = 0.5 if chain.prismatic[joint] else np.pi
    grid = np.linspace(-half, half, SAMPLES)

    def at(values):
        made = q.copy()
        made[:, joint] = values
        return determinants(chain, made)

    signs = np.array([at(value) > 0.0 for value in grid])
    changes = signs[1:] != signs[:-1]
    chosen = np.argmax(changes * rng.uniform(0.5, 1.0, changes.shape), axis=0)
    low, high = grid[chosen], grid[chosen + 1]
    first = at(low) > 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        same = (at(middle) > 0.0) == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.where(changes.any(axis=0), low, 0.0 if chain.prismatic[joint] else np.nan)


def singular_configurations(chain, kind, seed, count):
    """(k, 6) joint values at a singularity, k at most ``count``; add offsets to ``KINDS[kind]``."""
    q, rng = over_full_turns(chain, seed, count), np.random.default_rng(seed)
    made = q.copy()
    for joint in KINDS[kind]:
        made[:, joint] = singular_values(chain, q, joint, rng)
    return made[np.isfinite(made).all(axis=1)]
