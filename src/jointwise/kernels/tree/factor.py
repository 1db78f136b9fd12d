"""The damped step of a tree by articulated inertias, inside a box.

J^T W J + damping is the mass matrix of a tree whose joints have rotors of inertia ``damping``, the
gradient is the torques at its joints, and the damped step their accelerations. Featherstone's
algorithm finds them without the matrix: from the tips to the root, each joint adds to its parent
the inertia that is felt through it,

    U = I S,   D = S.U + damping,   I_parent += I - U U^T / D,   f_parent += f - U (S.f) / D,

with I in world axes about the base's origin, so that nothing is transformed. A joint whose step is
given has 1/D = 0. Joints that share a variable are such joints, too: the steps of the m shared
variables solve a dense system, whose columns are the answers to a step of each. The rows that
couple branches take one more substitution each; see ``couplings``.
"""

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import (
    ASLEEP,
    AWAKE,
    CENTRE,
    INERTIA,
    MASS,
    ROW_RESIDUAL,
    ROW_SIDES,
    ROW_WEIGHT,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree.couplings import row_inertia, row_slope
from jointwise.kernels.tree.moments import Twist

# Solves of a step, each with more unknowns held at their limits.
PASSES = 3
# A pivot below this share of the largest is none: its row follows from others.
LEAST_PIVOT = 1e-13


@jit_inline
def load_inertia(sums: Floats, own: Floats) -> None:
    """Write the lower triangle of the inertia (6, 6) of targets with these moments."""
    m, x, y, z = sums[MASS], sums[CENTRE], sums[CENTRE + 1], sums[CENTRE + 2]
    own[0, 0], own[1, 0], own[2, 0] = sums[INERTIA], sums[INERTIA + 1], sums[INERTIA + 2]
    own[1, 1], own[2, 1], own[2, 2] = sums[INERTIA + 3], sums[INERTIA + 4], sums[INERTIA + 5]
    own[3, 0], own[3, 1], own[3, 2] = 0.0, z, -y
    own[4, 0], own[4, 1], own[4, 2] = -z, 0.0, x
    own[5, 0], own[5, 1], own[5, 2] = y, -x, 0.0
    own[3, 3], own[4, 4], own[5, 5] = m, m, m
    own[4, 3], own[5, 3], own[5, 4] = 0.0, 0.0, 0.0


@jit_inline
def load_twist(twists: Floats, i: int) -> Twist:
    """Row i."""
    return twists[i, 0], twists[i, 1], twists[i, 2], twists[i, 3], twists[i, 4], twists[i, 5]


@jit_inline
def load_values(values: Floats) -> Twist:
    """The first six."""
    return values[0], values[1], values[2], values[3], values[4], values[5]


@jit_inline
def store_twist(twist: Twist, twists: Floats, i: int) -> None:
    """Write row i."""
    twists[i, 0], twists[i, 1], twists[i, 2] = twist[0], twist[1], twist[2]
    twists[i, 3], twists[i, 4], twists[i, 5] = twist[3], twist[4], twist[5]


@jit_inline
def added(a: Twist, share: float, b: Twist) -> Twist:
    """The sum a + share * b."""
    return (
        a[0] + share * b[0],
        a[1] + share * b[1],
        a[2] + share * b[2],
        a[3] + share * b[3],
        a[4] + share * b[4],
        a[5] + share * b[5],
    )


@jit_inline
def dot(a: Twist, b: Twist) -> float:
    """The sum of the products."""
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@jit_inline
def times(a: Floats, twist: Twist) -> Twist:
    """A symmetric matrix, given by its lower triangle, times a twist."""
    s0, s1, s2, s3, s4, s5 = twist
    u0 = a[0, 0] * s0 + a[1, 0] * s1 + a[2, 0] * s2
    u0 += a[3, 0] * s3 + a[4, 0] * s4 + a[5, 0] * s5
    u1 = a[1, 0] * s0 + a[1, 1] * s1 + a[2, 1] * s2
    u1 += a[3, 1] * s3 + a[4, 1] * s4 + a[5, 1] * s5
    u2 = a[2, 0] * s0 + a[2, 1] * s1 + a[2, 2] * s2
    u2 += a[3, 2] * s3 + a[4, 2] * s4 + a[5, 2] * s5
    u3 = a[3, 0] * s0 + a[3, 1] * s1 + a[3, 2] * s2
    u3 += a[3, 3] * s3 + a[4, 3] * s4 + a[5, 3] * s5
    u4 = a[4, 0] * s0 + a[4, 1] * s1 + a[4, 2] * s2
    u4 += a[4, 3] * s3 + a[4, 4] * s4 + a[5, 4] * s5
    u5 = a[5, 0] * s0 + a[5, 1] * s1 + a[5, 2] * s2
    u5 += a[5, 3] * s3 + a[5, 4] * s4 + a[5, 5] * s5
    return u0, u1, u2, u3, u4, u5


@jit_inline
def pass_on(above: Floats, own: Floats, momentum: Twist, inverse: float) -> None:
    """Add to the lower triangle of a parent what is felt through a joint: I - U U^T / D."""
    u0, u1, u2, u3, u4, u5 = momentum
    w = inverse * u0
    above[0, 0] += own[0, 0] - w * u0
    w = inverse * u1
    above[1, 0] += own[1, 0] - w * u0
    above[1, 1] += own[1, 1] - w * u1
    w = inverse * u2
    above[2, 0] += own[2, 0] - w * u0
    above[2, 1] += own[2, 1] - w * u1
    above[2, 2] += own[2, 2] - w * u2
    w = inverse * u3
    above[3, 0] += own[3, 0] - w * u0
    above[3, 1] += own[3, 1] - w * u1
    above[3, 2] += own[3, 2] - w * u2
    above[3, 3] += own[3, 3] - w * u3
    w = inverse * u4
    above[4, 0] += own[4, 0] - w * u0
    above[4, 1] += own[4, 1] - w * u1
    above[4, 2] += own[4, 2] - w * u2
    above[4, 3] += own[4, 3] - w * u3
    above[4, 4] += own[4, 4] - w * u4
    w = inverse * u5
    above[5, 0] += own[5, 0] - w * u0
    above[5, 1] += own[5, 1] - w * u1
    above[5, 2] += own[5, 2] - w * u2
    above[5, 3] += own[5, 3] - w * u3
    above[5, 4] += own[5, 4] - w * u4
    above[5, 5] += own[5, 5] - w * u5


@jit
def factorise(problem: TreeProblem, damping: float, memory: TreeMemory) -> None:
    """Prepare ``substitute``, after ``assemble``, for the unknowns that are ``held``."""
    parents, variables, shares = problem.parents, problem.variables, problem.shares
    base, held, penalties = problem.base_unknowns, memory.held, memory.penalties
    moments, inertias, twists = memory.moments, memory.inertias, memory.twists
    momenta, inverses = memory.momenta, memory.inverses
    for i in range(inertias.shape[0]):
        load_inertia(moments[i], inertias[i])
    for i in range(parents.size - 1, -1, -1):
        twist, v, inverse = load_twist(twists, i), variables[i], 0.0
        momentum = times(inertias[i + 1], twist)
        if held[base + v] == 0.0 and shares[i] < 0:
            inverse = 1.0 / (damping + penalties[v] + dot(twist, momentum))
        inverses[i] = inverse
        store_twist(momentum, momenta, i)
        pass_on(inertias[parents[i] + 1], inertias[i + 1], momentum, inverse)
    if base > 0:
        for i in range(base):
            inertias[0, i, i] += damping
        factorise_dense(inertias[0])
    if problem.shared.size > 0:
        factorise_border(problem, damping, memory)


@jit
def mean_inertia(memory: TreeMemory) -> float:
    """The scale of J^T W J: the mean of its diagonal for a free base, which moves all targets."""
    moments, total = memory.moments, row_inertia(memory)
    for i in range(moments.shape[0]):
        total += 3.0 * moments[i, MASS] + (moments[i, INERTIA] + moments[i, INERTIA + 3])
        total += moments[i, INERTIA + 5]
    return total / 6.0


@jit
def factorise_dense(a: Floats) -> None:
    """Replace the lower triangle of a matrix by its factors, L^T D L, with 1 / D in place of D."""
    for i in range(a.shape[0] - 1, -1, -1):
        inverse = 1.0 / a[i, i]
        for j in range(i):
            share = a[i, j] * inverse
            for k in range(j + 1):
                a[j, k] -= share * a[i, k]
        for j in range(i):
            a[i, j] *= inverse
        a[i, i] = inverse


@jit
def substitute_dense(a: Floats, values: Floats) -> None:
    """Replace the right-hand side ``values`` by the solution, with these factors."""
    n = a.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            values[j] -= a[i, j] * values[i]
    for i in range(n):
        value = a[i, i] * values[i]
        for j in range(i):
            value -= a[i, j] * values[j]
        values[i] = value


@jit
def factorise_border(problem: TreeProblem, damping: float, memory: TreeMemory) -> None:
    """Write the answers to a step of each shared variable, and factorise their system."""
    shared, base, held = problem.shared, problem.base_unknowns, memory.held
    columns, border, given = memory.columns, memory.border, memory.given
    for k in range(shared.size):
        for i in range(columns.shape[1]):
            columns[k, i] = 0.0
        for j in range(shared.size):
            given[j] = 1.0 if j == k else 0.0
        respond(problem, columns[k], memory)
        for j in range(shared.size):
            border[k, j] = memory.torques[j]
        border[k, k] += damping + memory.penalties[shared[k]]
    for k in range(shared.size):
        if held[base + shared[k]] != 0.0:
            for j in range(shared.size):
                border[k, j] = border[j, k] = 1.0 if j == k else 0.0
    factorise_dense(border)


@jit
def respond(problem: TreeProblem, values: Floats, memory: TreeMemory) -> None:
    """Replace the torques (n,) by steps, where shared variables make the steps ``given``.

    ``values`` are steps where unknowns are held. The torques at the joints of shared variables
    that this takes are written.
    """
    parents, variables, shares = problem.parents, problem.variables, problem.shares
    base, held, forces, moves = problem.base_unknowns, memory.held, memory.forces, memory.moves
    momenta, inverses, twists = memory.momenta, memory.inverses, memory.twists
    given, torques, pushes = memory.given, memory.torques, memory.pushes
    for i in range(forces.shape[0]):
        for k in range(6):
            forces[i, k] = 0.0
    for k in range(torques.size):
        torques[k] = 0.0
    f = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(parents.size - 1, -1, -1):
        above, unknown, u = parents[i] + 1, base + variables[i], load_twist(momenta, i)
        push, x = dot(load_twist(twists, i), f), values[unknown]
        pushes[i] = push
        if shares[i] >= 0:
            x = given[shares[i]]
        elif held[unknown] == 0.0:
            x = inverses[i] * (x + push)
        moves[i] = x
        f = added(f, -x, u)
        if above == i:  # kept in registers: the way through memory takes longer than the sums
            f = added(load_twist(forces, i), 1.0, f)
        else:
            store_twist(added(load_twist(forces, above), 1.0, f), forces, above)
            f = load_twist(forces, i)
    a = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if base > 0:
        a = root_acceleration(added(f, 1.0, load_values(values)), memory.inertias)
        values[0], values[1], values[2] = a[0], a[1], a[2]
        values[3], values[4], values[5] = a[3], a[4], a[5]
    store_twist(a, forces, 0)
    for i in range(parents.size):
        if parents[i] + 1 != i:
            a = load_twist(forces, parents[i] + 1)
        s, u = load_twist(twists, i), load_twist(momenta, i)
        x = moves[i] - inverses[i] * dot(u, a)
        a = added(a, x, s)
        store_twist(a, forces, i + 1)
        values[base + variables[i]] = x
        if shares[i] >= 0:
            torques[shares[i]] += dot(u, a) - pushes[i]


@jit_inline
def root_acceleration(f: Twist, inertias: Floats) -> Twist:
    """What a force at the root gives, with the factors of its inertia."""
    m, (f0, f1, f2, f3, f4, f5) = inertias[0], f
    f4 -= m[5, 4] * f5
    f3 -= m[5, 3] * f5 + m[4, 3] * f4
    f2 -= (m[5, 2] * f5 + m[4, 2] * f4) + m[3, 2] * f3
    f1 -= (m[5, 1] * f5 + m[4, 1] * f4) + (m[3, 1] * f3 + m[2, 1] * f2)
    f0 -= (m[5, 0] * f5 + m[4, 0] * f4) + (m[3, 0] * f3 + m[2, 0] * f2) + m[1, 0] * f1
    f0, f1, f2 = m[0, 0] * f0, m[1, 1] * f1, m[2, 2] * f2
    f3, f4, f5 = m[3, 3] * f3, m[4, 4] * f4, m[5, 5] * f5
    f1 -= m[1, 0] * f0
    f2 -= m[2, 0] * f0 + m[2, 1] * f1
    f3 -= (m[3, 0] * f0 + m[3, 1] * f1) + m[3, 2] * f2
    f4 -= (m[4, 0] * f0 + m[4, 1] * f1) + (m[4, 2] * f2 + m[4, 3] * f3)
    f5 -= (m[5, 0] * f0 + m[5, 1] * f1) + (m[5, 2] * f2 + m[5, 3] * f3) + m[5, 4] * f4
    return f0, f1, f2, f3, f4, f5


@jit
def substitute(problem: TreeProblem, values: Floats, memory: TreeMemory) -> None:
    """Replace a right-hand side (n,) by the solution, after ``factorise``.

    Where an unknown is held, its value is its step, and stays.
    """
    shared, base, held = problem.shared, problem.base_unknowns, memory.held
    given, wanted = memory.given, memory.wanted
    for k in range(shared.size):
        wanted[k], given[k] = values[base + shared[k]], 0.0
        if held[base + shared[k]] != 0.0:
            given[k] = wanted[k]
    respond(problem, values, memory)
    if shared.size == 0:
        return
    for k in range(shared.size):
        wanted[k] = 0.0 if held[base + shared[k]] != 0.0 else wanted[k] - memory.torques[k]
    substitute_dense(memory.border, wanted)
    for k in range(shared.size):
        for i in range(values.size):
            values[i] += wanted[k] * memory.columns[k, i]


@jit
def add_rows_to_step(problem: TreeProblem, memory: TreeMemory) -> None:
    """Add to the step of the other targets what the rows change about it.

    Unknowns that are held have their step; the factors have no other entries of theirs. A row that
    is asleep is left out, unless the step would wake it: then it is solved for again.
    """
    rows, solved, multipliers, wrenches = (
        memory.rows,
        memory.solved,
        memory.multipliers,
        memory.wrenches,
    )
    step, held, count = memory.step, memory.held, memory.rows.shape[0]
    for r in range(count):
        for i in range(step.size):
            solved[r, i] = rows[r, i] if held[i] == 0.0 else 0.0
        substitute(problem, solved[r], memory)
        if wrenches[r, ROW_SIDES] == AWAKE:
            wrenches[r, ROW_SIDES] = ASLEEP
    for _ in range(count + 1 if count > 0 else 0):  # each may wake once
        settle_rows(memory)
        woken = False
        for r in range(count):
            if wrenches[r, ROW_SIDES] == ASLEEP and residual_after(memory, r) > 0.0:
                wrenches[r, ROW_SIDES], woken = AWAKE, True
        if not woken:
            break
        for r in range(count):
            for i in range(step.size):
                step[i] -= multipliers[r] * solved[r, i]


@jit
def residual_after(memory: TreeMemory, r: int) -> float:
    """The residual of a row after the step, to first order."""
    residual = memory.wrenches[r, ROW_RESIDUAL]
    for i in range(memory.step.size):
        residual -= memory.rows[r, i] * memory.step[i]
    return float(residual)


@jit
def settle_rows(memory: TreeMemory) -> None:
    """Add to the step what the rows that are not asleep change, by their multipliers."""
    rows, solved, gram, multipliers = memory.rows, memory.solved, memory.gram, memory.multipliers
    step, wrenches = memory.step, memory.wrenches
    for r in range(rows.shape[0]):
        is_asleep = wrenches[r, ROW_SIDES] == ASLEEP
        multipliers[r] = 0.0 if is_asleep else residual_after(memory, r)
        for other in range(r + 1):
            gram[r, other] = 0.0
            if not is_asleep and wrenches[other, ROW_SIDES] != ASLEEP:
                for i in range(step.size):
                    gram[r, other] += rows[r, i] * solved[other, i]
        gram[r, r] += 1.0 / wrenches[r, ROW_WEIGHT]
    solve_symmetric(gram, multipliers)
    for r in range(rows.shape[0]):
        for i in range(step.size):
            step[i] += multipliers[r] * solved[r, i]


@jit
def solve_symmetric(matrix: Floats, values: Floats) -> None:
    """Replace the right-hand side by the solution, and a positive matrix by its L D L^T.

    What follows from other equations is left out.
    """
    n, largest = values.size, 0.0
    for i in range(n):
        largest = max(largest, matrix[i, i])
    for i in range(n):
        for j in range(i):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[k, k] * matrix[j, k]
            matrix[i, j] = matrix[i, j] / matrix[j, j] if matrix[j, j] > 0.0 else 0.0
            matrix[i, i] -= matrix[i, j] * matrix[i, j] * matrix[j, j]
            values[i] -= matrix[i, j] * values[j]
        if matrix[i, i] <= LEAST_PIVOT * largest:
            matrix[i, i] = 0.0
    for i in range(n - 1, -1, -1):
        values[i] = values[i] / matrix[i, i] if matrix[i, i] > 0.0 else 0.0
        for j in range(i + 1, n):
            values[i] -= matrix[j, i] * values[j]


@jit
def damped_step(problem: TreeProblem, state: Floats, damping: float, memory: TreeMemory) -> None:
    """Solve (J^T W J + damping) step = gradient inside the limits, after ``assemble``.

    Rows that couple branches count in both.
    A variable at a limit that the gradient pushes outward is held; so is one that a pass would
    take beyond a limit, at that limit, and the others are solved for again. After the last pass
    what is still outside is clamped.
    """
    base, gradient = problem.base_unknowns, memory.gradient
    step, held, lower, upper = memory.step, memory.held, memory.lower, memory.upper
    n = gradient.size
    for i in range(n):
        held[i], step[i] = 0.0, 0.0
        if i >= base:
            value, slope = state[i - base], gradient[i] + row_slope(memory, i)
            outward = (value <= lower[i - base] and slope < 0.0) or (
                value >= upper[i - base] and slope > 0.0
            )
            if outward or lower[i - base] == upper[i - base]:
                held[i] = 1.0
    for _ in range(PASSES):
        for i in range(n):
            if held[i] == 0.0:
                step[i] = gradient[i]
        factorise(problem, damping, memory)
        substitute(problem, step, memory)
        add_rows_to_step(problem, memory)
        outside = False
        for i in range(base, n):
            value = state[i - base] + step[i]
            least, greatest = lower[i - base], upper[i - base]
            if value < least or value > greatest:
                if held[i] == 0.0:
                    held[i], outside = 1.0, True
                step[i] = (least if value < least else greatest) - state[i - base]
        if not outside:
            break
