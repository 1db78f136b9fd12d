"""Draw the figures of ``docs/explain/method.md``: ``python docs/figures/method.py``.

All numbers come from jointwise: its kernels, its robots and its solvers.
"""

from math import pi
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc, Circle, Rectangle, Wedge

from jointwise import Chain, SolveConfig, robots, two_link_planar
from jointwise.config import criteria_of
from jointwise.engines.serial.trace import Trace
from jointwise.kernels.kinematics import tasks
from jointwise.kernels.layout.arm import Arm, unpack_arm
from jointwise.kernels.layout.task import Criteria, Task
from jointwise.kernels.serial import descent, lm, search, sweep
from jointwise.targets import pack_target

IMAGES = Path(__file__).parents[1] / "images"
# Okabe and Ito's palette.
ORANGE, SKY, GREEN, BLUE, VERMILLION = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"
DARK, GREY, LIGHT = "#444444", "#999999", "#DDDDDD"
# Random reachable poses of an arm, from random starts, for the shares that are solved.
PROBLEMS = 1000
# Iterations that are shown.
SHOWN = 60
CCD = SolveConfig(method="ccd", max_iterations=300)
# Which of them is shown iteration by iteration.
SHOWN_PROBLEM = 16


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure as a small PNG."""
    figure.savefig(IMAGES / f"method_{name}.png", dpi=110)
    plt.close(figure)


def best_turn_figure() -> None:
    """One joint's best turn in the plane perpendicular to its axis, inside and at its limits."""
    length, target, start = 0.7, np.array([0.5, 1.2]), np.array([0.35, -0.9])
    ranges = {
        "Best turn inside the limits": (-2.2, 2.2),
        "Best turn outside: the better limit": (-2.2, 0.6),
    }
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 4.3), layout="constrained")
    for ax, (title, limits) in zip(panels, ranges.items(), strict=True):
        chain = Chain.from_dh(two_link_planar(0.6, length), limits=[(-3, 3), limits])
        config = SolveConfig(method="ccd", max_iterations=1)
        move = next(chain.trace([*target, 0.0], start, config=config).moves())  # of the elbow
        elbow = chain.joint_frames(start)[1][:2, 3]
        before, after = (chain.fk([start[0], q])[:2, 3] for q in (move.before, move.after))
        best = elbow + length * (target - elbow) / np.linalg.norm(target - elbow)
        sector = np.degrees(start[0] + np.array(limits))
        ax.add_patch(Wedge(elbow, length, *sector, color=GREEN, alpha=0.13, lw=0))
        ax.add_patch(Circle(elbow, length, fill=False, color=GREY, ls=":"))
        turned = np.degrees([start[0] + move.before, start[0] + move.after])
        ax.add_patch(Arc(elbow, 0.5, 0.5, theta1=turned[0], theta2=turned[1], color=BLUE, lw=1.5))
        for end, color, width in (((0, 0), LIGHT, 7), (before, GREY, 4), (after, BLUE, 4)):
            ax.plot(*zip(elbow, end, strict=True), color=color, lw=width, solid_capstyle="round")
        ax.plot(*zip(elbow, target, strict=True), color=VERMILLION, lw=1, ls="--")
        ax.plot(*best, "o", mfc="white", mec=BLUE)
        ax.plot(*target, "*", color=VERMILLION, ms=14)
        ax.plot(*elbow, "o", color=DARK, ms=9)
        labels = [
            ("joint axis", elbow, (-30, -18), DARK),
            ("tip before", before, (-64, -6), GREY),
            ("tip after", after, (8, 2), BLUE),
            ("target", target, (9, -3), VERMILLION),
            ("limits", elbow + np.array((0.12, -0.55)), (0, 0), GREEN),
        ]
        for text, point, offset, color in labels:
            ax.annotate(text, point, offset, textcoords="offset points", color=color)
        ax.set(title=title, aspect="equal", xlim=(-0.25, 1.45), ylim=(-0.55, 1.35))
        ax.set(xlabel="x [m]", xticks=[0.0, 0.5, 1.0], yticks=[-0.5, 0.0, 0.5, 1.0])
    panels[0].set_ylabel("y [m]")
    save(figure, "best_turn")


def unpacked(chain: Chain, target: np.ndarray) -> tuple[Arm, Task]:
    """An arm and a target, as kernels have them."""
    packed = pack_target(target)
    weights = packed.kind.weights(chain.arm.angular_scale)
    return tasks.unpack_problem(chain.arm.packed, chain.n, packed.values, weights)


def energy_figure() -> None:
    """E as a function of one joint of a Panda, its limits, and what the sweep chooses."""
    panda, joint = robots.panda(), 3
    q, pose = panda.random(1139), panda.fk(panda.random(5139))
    arm, task = unpacked(panda, pose)

    def energy(value: float) -> float:
        return float(descent.energy(arm, task, np.where(np.arange(7) == joint, value, q)))

    # E = C - 2 (A cos + B sin): three values are enough to know it.
    middle = 0.5 * (energy(0.0) + energy(pi))
    a, b = 0.25 * (energy(pi) - energy(0.0)), 0.5 * (middle - energy(0.5 * pi))
    c, s = sweep.clamp_direction(arm.bounds, joint, a, b)
    lower, upper = panda.limits[joint]
    free, chosen = np.arctan2(b, a), np.arctan2(s, c)
    clamped = np.clip(free, lower, upper)
    values = np.linspace(-pi, pi, 73)
    figure, ax = plt.subplots(figsize=(6.4, 4.1), layout="constrained")
    ax.axvspan(lower, upper, color=GREEN, alpha=0.13, lw=0, label="between the limits")
    fine = np.linspace(-pi, pi, 400)
    ax.plot(fine, middle - 2.0 * (a * np.cos(fine) + b * np.sin(fine)), color=DARK, lw=1)
    evaluated = [energy(value) for value in values]
    ax.plot(values, evaluated, ".", color=DARK, ms=4, label="E, evaluated")
    ax.plot(free, energy(free), "o", mfc="white", mec=BLUE, ms=9, label="best without limits")
    ax.plot(chosen, energy(chosen), "o", color=BLUE, ms=9, label="best between the limits")
    label = "best without limits, clamped"
    ax.plot(clamped, energy(clamped), "X", color=VERMILLION, ms=9, label=label)
    ax.set(xlabel=f"{panda.joint_names[joint]} [rad]", ylabel="E [m²]", xlim=(-3.3, 3.3))
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False
    )
    save(figure, "energy")


def lm_alone(chain: Chain, target: np.ndarray, start: np.ndarray) -> tuple[list[float], bool]:
    """(squared error [rad²] at the start and after each step, whether it converged), no sweeps."""
    arm, task = unpacked(chain, target)
    criteria = Criteria(*criteria_of(SolveConfig(), near_start=True))
    q, scratch, best_error, waited = np.array(start), search.lm_scratch(chain.n), 1e30, 0
    errors: list[float] = []
    while True:
        pair = tasks.task_errors(arm, task, q)
        errors.append(tasks.scaled_error_sq(pair, arm.angular_scale))
        if tasks.is_converged(pair, criteria, task.weights):
            return errors, True
        best_error, waited = lm.update_stall(errors[-1], best_error, waited)
        if waited == search.PATIENCE or len(errors) > search.MAX_STEPS:
            return errors, False
        lm.levenberg_marquardt(arm, task, criteria, 1, 2, q, scratch)


def scaled_errors(chain: Chain, trace: Trace) -> np.ndarray:
    """Size of the residual [rad] at the start and after each iteration of a trace."""
    return np.hypot(trace.position_error / chain.arm.angular_scale, trace.orientation_error)


def iterations_taken(chain: Chain) -> dict[str, np.ndarray]:
    """Iterations to 1e-6 m and 1e-6 rad of each problem, by method; infinite where not solved.

    The first attempt only, from random starts to random reachable poses.
    """
    poses, starts = problems(chain)
    once = SolveConfig(max_restarts=0, search_unreached=False)
    batch = chain.solve_batch(poses, starts, config=once)
    pairs = list(zip(poses, starts, strict=True))
    lm = [lm_alone(chain, *pair) for pair in pairs]
    swept = [chain.solve(*pair, config=CCD) for pair in pairs]
    return {
        "CCD alone": np.array([r.iterations if r.converged else np.inf for r in swept]),
        "LM alone": np.array([len(errors) - 1 if done else np.inf for errors, done in lm]),
        "3 sweeps, then LM": np.where(batch.converged, batch.iterations, np.inf),
    }


def problems(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Random reachable poses, and random starts."""
    return chain.fk(chain.random(5, PROBLEMS)), chain.random(6, PROBLEMS)


def convergence_figure() -> None:
    """CCD alone, Levenberg-Marquardt alone, both: one problem, and the share of many solved."""
    chain = robots.ur5e()
    pose, start = (each[SHOWN_PROBLEM] for each in problems(chain))
    both = chain.trace(pose, start)
    curves = {
        "CCD alone": (scaled_errors(chain, chain.trace(pose, start, config=CCD)), ORANGE),
        "LM alone": (np.sqrt(lm_alone(chain, pose, start)[0]), SKY),
        "3 sweeps, then LM": (scaled_errors(chain, both), BLUE),
    }
    figure, (one, many) = plt.subplots(1, 2, figsize=(9.0, 3.7), layout="constrained")
    for name, (errors, color) in curves.items():
        one.semilogy(errors[: SHOWN + 1], ".-", color=color, ms=4, label=name)
    one.axvline(both.sweeps, color=LIGHT, zorder=0)
    one.set(title="UR5e, one pose", xlabel="iteration", ylabel="error |r| [rad]")
    steps = np.arange(SHOWN + 1)
    for name, counts in iterations_taken(chain).items():
        shares = (counts[:, None] <= steps).mean(axis=0)
        many.plot(steps, 100.0 * shares, color=curves[name][1], label=name)
    many.set(
        title=f"UR5e, {PROBLEMS:,} poses, first attempt",
        xlabel="iterations",
        ylabel="solved to 1e-6 m and 1e-6 rad [%]",
        ylim=(0, 100),
    )
    for ax in (one, many):
        ax.spines[["top", "right"]].set_visible(False)
    many.legend(frameon=False, loc="center right")
    save(figure, "convergence")


def print_first_attempts() -> None:
    """Print the table of ``docs/explain/method.md``: the share that the first attempt solves."""
    for name in ("panda", "ur5e", "iiwa14", "puma560", "kr6_r900", "stanford"):
        taken = iterations_taken(Chain.load(name))
        shares = " | ".join(f"{np.isfinite(counts).mean():.0%}" for counts in taken.values())
        print(f"| {name} | {shares} |", flush=True)


def restarts_figure() -> None:
    """The starts of restarts for an arm of two joints, beside random ones."""
    limits = np.array([(-2.5, 2.5), (-2.0, 2.0)])
    chain, count = Chain.from_dh(two_link_planar(1.0, 1.0), limits=limits), 60
    arm, start = unpack_arm(chain.arm.packed, 2), np.array([1.2, -0.6])

    def starts(near_start: bool) -> np.ndarray:
        criteria = Criteria(*criteria_of(SolveConfig(), near_start))
        points = np.empty((count, 2))
        for k in range(count):
            search.restart_values(arm, criteria, start, k + 1, points[k])
        return points

    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.2), layout="constrained", sharey=True)
    sequence, near, drawn = starts(False), starts(True), chain.random(seed=1, count=count)
    titles = "Kronecker sequence", "Uniform random numbers", "Near a given start first"
    for ax, title, points in zip(panels, titles, (sequence, drawn, near), strict=True):
        ax.plot(*points.T, "o", color=BLUE, ms=3.5)
        ax.add_patch(Rectangle(limits[:, 0], *np.ptp(limits, axis=1), fill=False, color=DARK))
        ax.set(title=title, xlabel="joint 1 [rad]", aspect="equal")
    neighbours = int(search.NEARBY_RESTARTS)
    for k in range(1, neighbours + 1):
        half = 0.5 * np.ptp(limits, axis=1) * k / (neighbours + 1)
        low, high = np.clip([start - half, start + half], *limits.T)
        panels[2].add_patch(Rectangle(low, *(high - low), fill=False, color=ORANGE, lw=1))
    panels[2].plot(*near[:neighbours].T, "o", color=ORANGE, ms=5)
    panels[2].plot(*start, "*", color=VERMILLION, ms=12)
    panels[0].set_ylabel("joint 2 [rad]")
    save(figure, "restarts")


if __name__ == "__main__":
    best_turn_figure()
    energy_figure()
    convergence_figure()
    restarts_figure()
    print_first_attempts()
