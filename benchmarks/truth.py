"""Promises that no answer may break, counted: ``python -m benchmarks.truth [COUNT ...]``.

Each count prints its failures, of which there must be none, and the exit status is 1 if there are.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.robots import CASES, Case
from jointwise import Chain, Posture, Robot, TrackStatus, robots
from testbed.far_targets import limbs
from testbed.planted import COUNTS as CLAIMS
from testbed.planted import false_claims, planted
from testbed.postures import arm_postures, standing_postures

G1, TALOS, BAXTER, TIAGO = CASES[0], CASES[2], CASES[3], CASES[4]
# Limbs of each robot, planted targets, frames past limits, and rides.
LIMBS, TARGETS, FRAMES, RIDES = 200, 16_000, 12_000, 200
# Of a ride: time of a step [s], limits of velocity and acceleration [rad/s, rad/s²], its steps, and
# what settling may take beyond the way of a joint [s].
DT, VELOCITY, ACCELERATION, RIDE, SETTLING = 0.004, 1.0, 5.0, 750, 2.0


def fixed(case: Case) -> Robot:
    """The robot of a case, with a fixed base."""
    return Case(case.name, case.file, case.links).load()


def spoiled_limbs(count: int = LIMBS) -> int:
    """Limbs that miss a target because a link that shares no joint with them has one far away."""
    failures = 0
    for case in (G1, BAXTER, TALOS, TIAGO):
        robot, posture, found = fixed(case), None, []
        if case is TIAGO:  # its arms share the joint of the torso
            posture = Posture(active=[name for name in robot.joint_names if "torso" not in name])
        for limb in limbs(robot, case.links, range(10 * count), posture):
            found.append(limb)
            if limb.spoiled:
                print(f"  seed {limb.seed}: {limb.link} misses by {limb.error:.2g} m,", end=" ")
                print(f"{limb.far} has a far target")
            if len(found) == count:
                break
        spoiled = sum(limb.spoiled for limb in found)
        print(f"{case.name}: {spoiled} of {len(found)} limbs beside a far target miss", flush=True)
        failures += spoiled
    return failures


def farther_postures() -> int:
    """Answers that a posture leads farther away from the joint values that it prefers."""
    panda, iiwa, g1 = Chain.load("panda"), Chain.load("iiwa14"), G1.load()
    feet = tuple(link for link in G1.links if "ankle" in link)
    hands = tuple(link for link in G1.links if link not in feet)
    rows = {
        "Panda, serial engine": arm_postures(panda, range(300)),
        "Panda, tree engine": arm_postures(panda, range(300), engine="tree"),
        "Panda, another weight": arm_postures(panda, range(300), weight=0.02),
        "iiwa 14, serial engine": arm_postures(iiwa, range(100)),
        "iiwa 14, tree engine": arm_postures(iiwa, range(100), engine="tree"),
        "G1, hands, standing": standing_postures(g1, feet, hands, range(100)),
    }
    failures = 0
    for name, row in rows.items():
        found = list(row)
        broken = [each for each in found if each.is_broken]
        for each in broken:
            print(f"  seed {each.seed}: {each.preferring:.3f} with the posture,", end=" ")
            print(f"{each.without:.3f} without; reached {each.reached}")
        means = [np.mean([each[k] for each in found]) for k in (1, 2)]
        print(f"{name}: {len(broken)} of {len(found)} farther; on average {means[1]:.3f},", end=" ")
        print(f"without a posture {means[0]:.3f}", flush=True)
        failures += len(broken)
    return failures


def false_claims_of_solves(count: int = TARGETS) -> int:
    """False claims about targets that a known configuration reaches, at many tolerances."""
    total: Counter[str] = Counter()
    for case in planted(count, 0):
        said = false_claims(case)
        total += said
        if wrong := {key: said[key] for key in CLAIMS if said[key]}:
            print(f"  {case.number}: {case.name}, {case.config.tolerances}, {wrong}")
    for key in (*CLAIMS, "found outside", "unsolved"):
        print(f"{key}: {total[key]} of {count}", flush=True)
    return sum(total[key] for key in CLAIMS)


def frames_outside_limits(count: int = FRAMES) -> int:
    """Frames of paths outside the joint limits, while targets lead beyond them."""
    free, failures, done = Robot.load("ur5e").with_limits(None), 0, 0
    rng = np.random.default_rng(0)
    while done < count:
        half = np.pi * rng.choice([0.9, 0.9999, 1.0, 1.2, 2.0])
        robot = free.with_limits(np.tile([-half, half], (6, 1)))
        start = rng.uniform(-0.6, 0.6, 6) * half
        end, joint = start.copy(), rng.integers(6)
        end[joint] = np.sign(start[joint]) * (half + 0.8)
        poses = free.fk(np.linspace(start, end, 60))
        several = {"tip": poses["tip"], "link3": poses["link3"][:, :3, 3]}
        (path,) = robot.solve_paths([several if done % 120 else {"tip": poses["tip"]}], start)
        failures += int((np.abs(path.q) > half).any(axis=1).sum())
        done += len(path)
    print(f"UR5e: {failures} of {done} frames outside the limits", flush=True)
    return failures


def targets_given_up(count: int = RIDES) -> int:
    """Targets that stand still after a ride: neither reached nor told of another branch in time."""
    names, failures = robots.names(), 0
    ended = (TrackStatus.FOLLOWING, TrackStatus.OTHER_BRANCH)
    for ride in range(count):
        name = names[ride % len(names)]
        arm = Chain.load(name)
        q = arm.random(ride, RIDE + 2)
        tracker = arm.track(q[0], DT, max_velocity=VELOCITY, max_acceleration=ACCELERATION)
        tracker.run(arm.fk(q[1:-1]))
        run = tracker.run(np.repeat(arm.fk(q[-1:]), round(10.0 / DT), axis=0))
        done = np.flatnonzero(np.isin(run.status, ended))
        way = np.abs(run.q[done[0]] - run.q[0]).max() if len(done) else 0.0
        if not len(done) or done[0] * DT > way / VELOCITY + SETTLING:
            print(f"  {name}, seed {ride}: {run[-1].status.name}")
            failures += 1
    print(f"all named arms: {failures} of {count} targets given up", flush=True)
    return failures


COUNTS: dict[str, Callable[[], int]] = {
    "claims": false_claims_of_solves,
    "limits": frames_outside_limits,
    "rides": targets_given_up,
    "limbs": spoiled_limbs,
    "postures": farther_postures,
}


def main() -> None:
    """The counts that were asked for, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("counts", nargs="*", metavar="COUNT", help=", ".join(COUNTS))
    arguments = parser.parse_args()
    if unknown := set(arguments.counts) - set(COUNTS):
        parser.error(f"no count {', '.join(sorted(unknown))}; there are {', '.join(COUNTS)}")
    failures = 0
    for name in arguments.counts or COUNTS:
        print(f"\n{COUNTS[name].__doc__}")
        failures += COUNTS[name]()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
