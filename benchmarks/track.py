"""Tracking: violated limits, time of a step, error on smooth paths, stillness out of reach."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns

import numpy as np

from benchmarks.rivals import HERE, Rival
from jointwise import Chain, Robot, Tracker, TrackStatus
from testbed.motion_laws import Limits, count_unstoppable, violations
from testbed.track_targets import circle, line, robot_scenarios, scenarios

DT = 0.001
# Simulated seconds in a run between two checks, about.
RUN_S = 60
# Limits of a Panda by its maker [rad/s, rad/s², rad/s³]; all other arms have those of OTHERS.
PANDA = (
    [2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61],
    [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0],
    [7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0],
)
STARTS = {
    "panda": [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8],
    "ur5e": [0.0, -1.2, 1.8, -0.6, 1.5, 0.3],
    "so101": [0.0, 0.3, -0.3, 0.5, 0.2],
}
OTHERS = (3.0, 15.0, 500.0)
HUMANOID = "g1_29dof_rev_1_0"  # of the package example-robot-data
HANDS = ("left_rubber_hand", "right_rubber_hand")
QP_RIVALS = (
    Rival("mink 1.3 with daqp", "mink_track", ("mink==1.3.0", "daqp")),
    Rival("pink 4.4 with daqp", "pink_track", ("pin-pink==4.4.0", "daqp", "example-robot-data")),
)
RUCKIG = Rival("ruckig 0.19", "ruckig_track", ("ruckig==0.19.4", "numpy"))


def track_table(count: int, with_rivals: bool, hours: float = 0.05) -> None:
    """Violations in so many simulated hours an arm, the time of ``count`` steps, and errors."""
    print_violations(3600.0 * hours)
    print_latency(count, with_rivals)
    print_errors(with_rivals)
    print_boundary()
    if with_rivals:
        print_jerk()


def start_of(name: str, chain: Chain | Robot) -> np.ndarray:
    """A bent posture, far from singularities and limits."""
    return np.array(STARTS.get(name, np.clip(chain.mid_range + 0.3, *chain.limits.T)), float)


def tracker_and_limits(
    name: str, chain: Chain | Robot, start: np.ndarray, with_jerk: bool
) -> tuple[Tracker, Limits]:
    """A tracker, and the limits that it is checked against."""
    velocity, acceleration, jerk = PANDA if name == "panda" else OTHERS
    rates = {"max_velocity": velocity, "max_acceleration": acceleration}
    tracker = chain.track(start, DT, **rates, max_jerk=jerk if with_jerk else None)
    limits = [np.asarray(each) for each in (velocity, acceleration, jerk if with_jerk else np.inf)]
    return tracker, Limits(*chain.limits.T, *limits)


def arms() -> Iterator[tuple[str, Chain | Robot]]:
    """Arms by name, those of a humanoid one by one and both at once."""
    for name in ("panda", "ur5e", "so101"):
        yield name, Chain.load(name)
    robot = Robot.load(HUMANOID, free_base=True)
    for side, hand in zip(("left", "right"), HANDS, strict=True):
        yield f"g1 {side}", robot.chain("torso_link", hand)
    yield "g1 hands", robot


def all_targets(
    chain: Chain | Robot, start: np.ndarray, seconds: float, seed: int
) -> Iterator[np.ndarray | dict[str, np.ndarray]]:
    """The scenarios of an arm, or of both hands of a robot."""
    if isinstance(chain, Robot):
        return robot_scenarios(chain, HANDS, start, seconds, DT, seed)
    return scenarios(chain, start, seconds, DT, seed)


def print_violations(seconds: float) -> None:
    """Counts of violated limits, by NumPy, over all scenarios."""
    print(f"\nViolated limits, {seconds:,.0f} s simulated an arm at 1 kHz, jerk limits in every")
    print("second run; status: share of steps that follow, approach, are at a limit, stuck")
    names = ("position", "velocity", "acceleration", "jerk", "braking")
    print(f"{'':10}{'steps':>12}" + "".join(f"{name:>13}" for name in names) + "   status [%]")
    for name, chain in arms():
        start, total, steps = start_of(name, chain), dict.fromkeys(names, 0), 0
        statuses = np.zeros(len(TrackStatus), int)
        runs = max(round(seconds / RUN_S), 2)
        for run in range(runs):
            tracker, limits = tracker_and_limits(name, chain, start, run % 2 == 1)
            rows = [np.repeat(start[None], 3, axis=0)]
            for targets in all_targets(chain, start, seconds / runs, run):
                done = tracker.run(targets)
                rows.append(done.q)
                statuses += np.bincount(done.status, minlength=len(TrackStatus))
            q = np.concatenate(rows)
            steps += len(q)
            total["braking"] += count_unstoppable(q, DT, limits)
            for limit, broken in violations(q, DT, limits).items():
                total[limit] += broken
        shares = " ".join(f"{100 * each / statuses.sum():.0f}" for each in statuses[:4])
        counts = "".join(f"{total[each]:13}" for each in names)
        print(f"{name:10}{steps:12,}{counts}   {shares}", flush=True)


def print_latency(count: int, with_rivals: bool) -> None:
    """The time of one step through the Python call."""
    print(f"\nOne step [µs], {count:,} steps through the Python call, one core")
    print(f"{'':32}{'median':>9}{'99 %':>9}{'99.9 %':>9}{'worst':>10}")
    for name in ("panda", "ur5e"):
        chain = Chain.load(name)
        start = start_of(name, chain)
        targets = circle(chain.fk(start), 0.1, 2.0, 10.0, DT)
        for with_jerk in (False, True):
            tracker, _ = tracker_and_limits(name, chain, start, with_jerk)
            tracker.run(targets[:10])
            print_times(
                f"jointwise, {name}{', jerk' if with_jerk else ''}",
                step_times(tracker, list(targets), count),
            )
    robot = Robot.load(HUMANOID, free_base=True)
    start = start_of("g1 hands", robot)
    paths = [circle(robot.fk(start)[hand], 0.04, 2.0, 10.0, DT) for hand in HANDS]
    sets = [dict(zip(HANDS, each, strict=True)) for each in zip(*paths, strict=True)]
    tracker, _ = tracker_and_limits("g1 hands", robot, start, True)
    tracker.run(sets[:10])
    print_times("jointwise, g1 hands, jerk", step_times(tracker, sets, count))
    if with_rivals:
        chain = Chain.load("panda")
        targets = circle(chain.fk(start_of("panda", chain)), 0.1, 2.0, 4.0, DT)
        for rival in QP_RIVALS:
            print_times(f"{rival.name}, panda", call_rival(rival, chain, targets)["µs"])


def step_times(tracker: Tracker, targets: list, count: int) -> np.ndarray:
    """Times of so many steps [µs]; the targets are repeated."""
    times, clock = np.empty(count), perf_counter_ns
    for i in range(count):
        target = targets[i % len(targets)]
        began = clock()
        tracker.step(target)
        times[i] = clock() - began
    return 1e-3 * times


def print_times(name: str, times: np.ndarray) -> None:
    """A row of the table of times."""
    middle, most, nearly = np.percentile(times, [50, 99, 99.9])
    print(f"{name:32}{middle:9.1f}{most:9.1f}{nearly:9.1f}{max(times):10.1f}", flush=True)


def print_errors(with_rivals: bool) -> None:
    """Errors on a circle and a line of moderate speed, after the first half second."""
    print(
        "\nTracking error of a Panda, worst of position [µm] and orientation [µrad], 8 s at 1 kHz;"
    )
    print("mink and pink have the same limits of position and velocity, and none of acceleration")
    print(f"{'':32}{'circle':>20}{'line':>20}")
    chain = Chain.load("panda")
    start = start_of("panda", chain)
    pose = chain.fk(start)
    paths = circle(pose, 0.1, 2.0, 8.0, DT), line(pose, 0.2, 3.0, 8.0, DT)
    rows = {}
    for with_jerk in (False, True):
        runs = [tracker_and_limits("panda", chain, start, with_jerk)[0].run(p) for p in paths]
        rows[f"jointwise{', jerk' if with_jerk else ''}"] = [each.q for each in runs]
    for rival in QP_RIVALS if with_rivals else ():
        rows[rival.name] = [np.array(call_rival(rival, chain, each)["q"]) for each in paths]
    for name, solved in rows.items():
        text = ""
        for q, targets in zip(solved, paths, strict=True):
            tips = chain.fk(q[500:])
            distance = np.linalg.norm(tips[:, :3, 3] - targets[500:, :3, 3], axis=1)
            chord = np.linalg.norm((tips - targets[500:])[:, :3, :3], axis=(1, 2)) / np.sqrt(2.0)
            text += f"{1e6 * distance.max():12.3f}{1e6 * chord.max():8.2f}"
        print(f"{name:32}{text}", flush=True)


def print_boundary() -> None:
    """A position that circles 5 cm out of reach: how fast joints move, and how much they shake."""
    print(
        "\nA position that circles 5 cm beyond reach at 0.3 m/s, 20 s; still: the largest move of"
    )
    print(
        "a joint in the last second after the target stops; shaking: share of the velocity's power"
    )
    print(
        "above 20 Hz; joints: fastest joint, and the fastest that closest approaches need [rad/s]"
    )
    print(f"{'':10}{'status':>14}{'still [rad]':>14}{'shaking':>12}{'joints':>10}{'needed':>10}")
    for name in ("panda", "ur5e", "so101"):
        chain = Chain.load(name)
        start = start_of(name, chain)
        tracker, _ = tracker_and_limits(name, chain, start, False)
        origin, radius = chain.arm.base_origin, 0.0
        reached = chain.solve([30.0, 0.0, 9.0], start)  # the arm stretched, in this direction
        tip = chain.fk(reached.q)[:3, 3]
        radius = np.linalg.norm(tip - origin) + 0.05
        angle = 0.3 / radius * np.minimum(np.arange(0.0, 25.0, DT), 20.0)
        height = tip[2] * radius / np.linalg.norm(tip - origin)
        flat = np.sqrt(radius**2 - (height - origin[2]) ** 2)
        angle = 0.6 * np.sin(angle)
        targets = origin + np.stack(
            [flat * np.cos(angle), flat * np.sin(angle), 0 * angle + height - origin[2]], 1
        )
        run = tracker.run(targets)
        moving = run.velocities[5000:20000]
        power = np.abs(np.fft.rfft(moving * np.hanning(len(moving))[:, None], axis=0)) ** 2
        shaking = power[np.fft.rfftfreq(len(moving), DT) > 20.0].sum() / power.sum()
        still = np.ptp(run.q[-1000:], axis=0).max()
        best = chain.solve(targets[5000], run.q[5000]).q
        needed = 0.0
        for k in range(5050, 20000, 50):
            following = chain.solve(targets[k], best).q
            needed = max(needed, np.abs(following - best).max() / (50 * DT))
            best = following
        status = run[10000].status.name
        fastest = np.abs(moving).max()
        print(
            f"{name:10}{status:>14}{still:14.1e}{shaking:12.1e}{fastest:10.2f}{needed:10.2f}",
            flush=True,
        )


def print_jerk() -> None:
    """The moving average beside ruckig, which gets the exact joint values, velocities and so on."""
    print(
        "\nJerk limits for a Panda: the moving average, and ruckig behind exact joint values with"
    )
    print("their velocities and accelerations; lag: largest joint error on a circle after 0.5 s;")
    print("jump: time to 1e-4 rad after a jump; a step of the Python call")
    print(f"{'':32}{'lag [rad]':>12}{'jump [s]':>10}{'µs':>8}")
    chain = Chain.load("panda")
    start, (velocity, acceleration, jerk) = start_of("panda", chain), PANDA
    for slower in (1.0, 0.05):
        limits = [velocity, acceleration, (slower * np.array(jerk)).tolist()]
        rates = dict(zip(("max_velocity", "max_acceleration", "max_jerk"), limits, strict=True))
        free = chain.track(start, DT, max_velocity=50.0, max_acceleration=1e5)
        smooth = circle(chain.fk(start), 0.1, 2.0, 8.0, DT)
        exact = free.run(smooth).q
        jumped = np.repeat(chain.fk(start + 0.4)[None], 4000, axis=0)
        goal = chain.track(start, DT, max_velocity=50.0, max_acceleration=1e5).run(jumped)
        step = np.repeat(goal.q[50:51], 4000, axis=0)
        ours = [chain.track(start, DT, **rates).run(each).q for each in (smooth, jumped)]
        print_jerk_row(f"jointwise, {slower:g} of the limits", exact, step, ours, None)
        theirs = [
            call_rival(RUCKIG, chain, each, limits=limits, start=start) for each in (exact, step)
        ]
        q = [np.array(each["q"]) for each in theirs]
        print_jerk_row(f"{RUCKIG.name}", exact, step, q, np.median(theirs[0]["µs"]))


def print_jerk_row(
    name: str, exact: np.ndarray, step: np.ndarray, found: list[np.ndarray], time: float | None
) -> None:
    """A row of the table of jerk limits; spare motion is not counted as an error of a jump."""
    lag = np.abs(found[0] - exact)[500:].max()
    away = np.abs(np.diff(found[1], axis=0)).max(axis=1) > 1e-4 * DT + 5e-5
    duration = DT * (np.flatnonzero(away).max() + 2)
    print(
        f"{name:32}{lag:12.1e}{duration:10.3f}{'' if time is None else f'{time:8.1f}'}", flush=True
    )


def call_rival(rival: Rival, chain: Chain, targets: np.ndarray, **more: object) -> dict:
    """Joint values and times [µs] of a rival that tracks targets."""
    with tempfile.TemporaryDirectory() as folder:
        asked, given = Path(folder, "asked.npz"), Path(folder, "given.json")
        asks = {
            "urdf": chain.to_urdf(),
            "start": start_of("panda", chain),
            "targets": targets,
            "dt": DT,
        }
        np.savez(asked, **{**asks, "velocity": PANDA[0], **more})
        script = HERE / "adaptors" / f"{rival.adaptor}.py"
        subprocess.run([rival.python(), script, asked, given], check=True)
        return dict(json.loads(given.read_text()))
