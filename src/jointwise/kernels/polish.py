"""The second-order finish: Levenberg-Marquardt steps with the limits inside the step.

Where a sweep is robust and slow at the end, this is quick at the end and may get stuck far
from it. Damping shrinks with the squared error (Chan and Lawrence 1988), so the last steps
are Newton's.
"""

from jointwise.kernels import LOWER, REVOLUTE, UPPER, Arm, Floats, Task
from jointwise.kernels.fk import arrived, distance, joint_frames, see, twist
from jointwise.kernels.jit import inline, jit
from jointwise.kernels.linear import solve_positive
from jointwise.kernels.local import PAIR, TWIST, XYZ, local
from jointwise.kernels.sweep import TURN, bounded

# Damping as a share of the squared error, and what keeps a singular system solvable.
DAMPING, LEAST_DAMPING = 0.05, 1e-12

Scratch = tuple[Floats, Floats]


@jit
def columns(kinds: Floats, frames: Floats, seen: Floats, scale: float, jacobian: Floats) -> None:
    """Write how each joint moves the tip, a row a joint: its shift times ``scale``, its turn."""
    for i in range(kinds.size):
        x, y, z = frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2]
        if kinds[i] == REVOLUTE:
            a = scale * (seen[0, 0] - frames[i, 0, 3])
            b = scale * (seen[0, 1] - frames[i, 1, 3])
            c = scale * (seen[0, 2] - frames[i, 2, 3])
            jacobian[i, 0], jacobian[i, 1], jacobian[i, 2] = (
                y * c - z * b,
                z * a - x * c,
                x * b - y * a,
            )
            if seen.shape[0] == 2:  # a turn about the aim itself does not count
                dot = x * seen[1, 0] + y * seen[1, 1] + z * seen[1, 2]
                x, y, z = x - dot * seen[1, 0], y - dot * seen[1, 1], z - dot * seen[1, 2]
            jacobian[i, 3], jacobian[i, 4], jacobian[i, 5] = x, y, z
        else:
            jacobian[i, 0], jacobian[i, 1], jacobian[i, 2] = scale * x, scale * y, scale * z
            jacobian[i, 3], jacobian[i, 4], jacobian[i, 5] = 0.0, 0.0, 0.0


@inline
def rank(weights: tuple[float, ...]) -> int:
    """How many numbers say how far off the tip is: three for a position, else six."""
    return 3 if len(weights) == 1 else 6


@inline
def along(jacobian: Floats, i: int, right: Floats, size: int) -> float:
    """How far joint i moves in the step that ``right`` describes."""
    move = 0.0
    for k in range(size):
        move += jacobian[i, k] * right[k]
    return move


@jit
def step(
    kinds: Floats,
    bounds: Floats,
    jacobian: Floats,
    damping: float,
    weights: tuple[float, ...],
    q: Floats,
) -> None:
    """Move ``q`` by one damped step towards what the last row of ``jacobian`` asks for.

    A joint at its limit that would be pushed outward takes no part, and the others are
    solved for again without it.
    """
    n, size = kinds.size, rank(weights)
    normal, vectors = local(TWIST, TWIST), local(PAIR, TWIST)
    right, scratch = vectors[0], vectors[1]
    again = True
    while again:
        again = False
        for row in range(size):
            right[row] = jacobian[n, row]
            for column in range(row + 1):
                normal[row, column] = 0.0
            normal[row, row] = damping
        for i in range(n):
            for row in range(size):
                for column in range(row + 1):
                    normal[row, column] += jacobian[i, row] * jacobian[i, column]
        solve_positive(normal, right, scratch, size)
        for i in range(n):
            lower, upper = bounds[i, LOWER], bounds[i, UPPER]
            if lower < q[i] < upper or (kinds[i] == REVOLUTE and upper - lower >= TURN):
                continue
            move = along(jacobian, i, right, size)
            if (move > 0.0 and q[i] >= upper) or (move < 0.0 and q[i] <= lower):
                for k in range(size):
                    jacobian[i, k] = 0.0
                again = True
    for i in range(n):
        q[i] = bounded(kinds[i], bounds, i, q[i] + along(jacobian, i, right, size))


@jit
def polish(
    arm: Arm,
    task: Task,
    length: float,
    close: float,
    aligned: float,
    max_steps: int,
    patience: int,
    q: Floats,
    scratch: Scratch,
) -> tuple[int, float, float]:
    """Step from ``q`` and move it along: (steps done, distance [m], angle [rad]).

    Ends when the errors are below ``close`` and ``aligned``, when the squared error has not
    halved in ``patience`` steps, or after ``max_steps``.
    """
    links, kinds, bounds, _ = arm
    tips, goal, weights = task
    frames, jacobian = scratch
    seen, n = local(weights, XYZ), kinds.size
    scale = 1.0 / length
    mark, waited, done = 1e300, 0, 0
    while True:
        joint_frames(links, kinds, q, frames)
        see(frames, tips, seen)
        distant = distance(seen, goal)
        x, y, z, turned = twist(seen, goal)
        if done == max_steps or arrived(distant, turned, close, aligned, weights):
            return done, distant, turned
        squared = (scale * distant) ** 2 + turned * turned
        waited = 0 if squared < 0.5 * mark else waited + 1
        mark = squared if waited == 0 else mark
        if waited == patience:
            return done, distant, turned
        for k in range(3):
            jacobian[n, k] = scale * (goal[0, k] - seen[0, k])
        jacobian[n, 3], jacobian[n, 4], jacobian[n, 5] = x, y, z
        columns(kinds, frames, seen, scale, jacobian)
        damping = DAMPING * squared + LEAST_DAMPING
        step(kinds, bounds, jacobian, damping, weights, q)
        done += 1
