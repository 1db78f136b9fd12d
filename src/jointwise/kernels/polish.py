"""The second-order finish: Levenberg-Marquardt steps with the limits inside the step.

Where a sweep is robust and slow at the end, this is quick at the end and may get stuck far
from it. Damping shrinks with the squared error (Chan and Lawrence 1988), so the last steps
are Newton's.
"""

from jointwise.kernels import LOWER, REVOLUTE, UPPER, Arm, Floats, Task
from jointwise.kernels.fk import arrived, distance, joint_frames, see, twist
from jointwise.kernels.jit import hot, inline, jit
from jointwise.kernels.lanes import some, where
from jointwise.kernels.linear import solve_positive
from jointwise.kernels.local import PAIR, TWIST, XYZ, local
from jointwise.kernels.sweep import TURN, bounded

# Damping as a share of the squared error, and what keeps a singular system solvable.
DAMPING, LEAST_DAMPING = 0.05, 1e-12

Scratch = tuple[Floats, Floats]


@hot
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
            jacobian[i, 3] = jacobian[i, 4] = jacobian[i, 5] = 0.0 * x


@inline
def rank(weights: tuple[float, ...]) -> int:
    """How many numbers say how far off the tip is: three for a position, else six."""
    return 3 if len(weights) == 1 else 6


@inline
def along(jacobian: Floats, i: int, right: Floats, size: int) -> float:
    """How far joint i moves in the step that ``right`` describes."""
    move: float = jacobian[i, 0] * right[0]
    for k in range(1, size):
        move = move + jacobian[i, k] * right[k]
    return move


@hot
def step(
    kinds: Floats,
    bounds: Floats,
    jacobian: Floats,
    damping: float,
    weights: tuple[float, ...],
    q: Floats,
    active: bool,
) -> None:
    """Move ``q`` by one damped step towards what the last row of ``jacobian`` asks for.

    A joint at its limit that is pulled outward takes no part (the projected step of Bertsekas
    1982). Where the solve is not ``active``, nothing moves.
    """
    n, size = kinds.size, rank(weights)
    normal, vectors = local(TWIST, TWIST, damping), local(PAIR, TWIST, damping)
    right, scratch = vectors[0], vectors[1]
    for i in range(n):
        lower, upper = bounds[i, LOWER], bounds[i, UPPER]
        if kinds[i] == REVOLUTE and upper - lower >= TURN:
            continue
        high, low = q[i] >= upper, q[i] <= lower
        if some(high | low):
            pull = along(jacobian, i, jacobian[n], size)
            outward = ((pull > 0.0) & high) | ((pull < 0.0) & low)
            for k in range(size):
                jacobian[i, k] = where(outward, 0.0, jacobian[i, k])
    for row in range(size):
        right[row] = jacobian[n, row]
        for column in range(row + 1):
            normal[row, column] = 0.0 * damping
        normal[row, row] = damping
    for i in range(n):
        for row in range(size):
            for column in range(row + 1):
                product = jacobian[i, row] * jacobian[i, column]
                normal[row, column] = normal[row, column] + product
    solve_positive(normal, right, scratch, size)
    for i in range(n):
        value = bounded(kinds[i], bounds, i, q[i] + along(jacobian, i, right, size))
        q[i] = where(active, value, q[i])


@hot
def look(
    arm: Arm, task: Task, q: Floats, frames: Floats, seen: Floats, jacobian: Floats
) -> tuple[float, float]:
    """How far off the tip is at ``q``, (distance [m], angle [rad]); the rest is for ``advance``."""
    links, kinds, _, _ = arm
    tips, goal, _ = task
    n = kinds.size
    joint_frames(links, kinds, q, frames)
    see(frames, tips, seen)
    for k in range(3):
        jacobian[n, k] = goal[0, k] - seen[0, k]
    jacobian[n, 3], jacobian[n, 4], jacobian[n, 5], turned = twist(seen, goal)
    return distance(seen, goal), turned


@hot
def advance(
    arm: Arm,
    task: Task,
    scale: float,
    squared: float,
    q: Floats,
    frames: Floats,
    seen: Floats,
    jacobian: Floats,
    active: bool,
) -> None:
    """Take a step from ``q``, where ``look`` has just looked; ``squared`` is the error there."""
    _, kinds, bounds, _ = arm
    for k in range(3):
        jacobian[kinds.size, k] = scale * jacobian[kinds.size, k]
    columns(kinds, frames, seen, scale, jacobian)
    damping = DAMPING * squared + LEAST_DAMPING
    step(kinds, bounds, jacobian, damping, task[2], q, active)


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
    frames, jacobian = scratch
    seen, scale = local(task[2], XYZ, q[0]), 1.0 / length
    mark, waited, done = 1e300, 0, 0
    while True:
        distant, turned = look(arm, task, q, frames, seen, jacobian)
        if done == max_steps or arrived(distant, turned, close, aligned, task[2]):
            return done, distant, turned
        squared = (scale * distant) * (scale * distant) + turned * turned
        waited = 0 if squared < 0.5 * mark else waited + 1
        mark = squared if waited == 0 else mark
        if waited == patience:
            return done, distant, turned
        advance(arm, task, scale, squared, q, frames, seen, jacobian, True)
        done += 1
