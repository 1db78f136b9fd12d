"""Tinyik's CCD, position only: each angle by a numerical search, 50 sweeps (its default)."""

import numpy as np
import timed
import tinyik


def make_solver(links, limits):
    """Tinyik builds an arm from shifts and axis letters, so axes must be x, y or z."""
    tokens, signs, last, frame = [], [], np.zeros(3), np.eye(4)
    for i, link in enumerate(links):
        frame = frame @ timed.square(link)
        if np.linalg.norm(frame[:3, 3] - last) > 1e-12:
            tokens.append(list(frame[:3, 3] - last))
        last, axis = frame[:3, 3].copy(), frame[:3, 2]
        if i < len(limits):
            letter = int(np.argmax(np.abs(axis)))
            assert abs(axis[letter]) > 1.0 - 1e-9
            tokens.append("xyz"[letter])
            signs.append(np.sign(axis[letter]))
    fk = tinyik.CCDFKSolver(tinyik.Actuator(tokens).components)
    ik = tinyik.CCDIKSolver(fk)
    signs = np.array(signs)
    return lambda target, start: np.asarray(ik.solve(start * signs, target[:3, 3])) * signs


timed.run(make_solver)
