"""Tinyik's CCD: each joint's angle by a numerical search, 50 sweeps at most (its default)."""

import numpy as np
import timed
import tinyik


def make_solver(rows):
    """Tinyik builds an arm from shifts and axis letters, so axes must be x, y or z."""
    tokens, signs, last = [], [], np.zeros(3)
    frame = np.eye(4)
    for theta, d, a, alpha in rows:
        assert theta == 0.0
        if np.linalg.norm(frame[:3, 3] - last) > 1e-12:
            tokens.append(list(frame[:3, 3] - last))
        last, axis = frame[:3, 3].copy(), frame[:3, 2]
        letter = int(np.argmax(np.abs(axis)))
        assert abs(axis[letter]) > 1.0 - 1e-9
        tokens.append("xyz"[letter])
        signs.append(np.sign(axis[letter]))
        c, s = np.cos(alpha), np.sin(alpha)
        frame = frame @ np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, d], [0, 0, 0, 1]])
    if np.linalg.norm(frame[:3, 3] - last) > 1e-12:
        tokens.append(list(frame[:3, 3] - last))
    fk = tinyik.CCDFKSolver(tinyik.Actuator(tokens).components)
    ik = tinyik.CCDIKSolver(fk)
    signs = np.array(signs)
    return lambda target, start: np.asarray(ik.solve(start * signs, target)) * signs


timed.run(make_solver)
