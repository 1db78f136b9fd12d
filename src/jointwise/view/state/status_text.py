"""How solves, tracking and plans ended, in sentences that name the buttons of the page.

The sentences of statuses name methods and arguments of Python, which a visitor does not have.
"""

from jointwise.results.plan import Plan
from jointwise.results.status import BreakReason, CodedStatus, PlanStatus, Status, TrackStatus
from jointwise.results.tracking import TrackResult

# Remedies if every solution collides.
REMEDIES: dict[CodedStatus, str] = {
    Status.COLLIDES: (
        "The target is reached, but every solution found collides: move the target or the obstacle."
    ),
    Status.COLLIDES_ALWAYS: (
        "The target is reached, but every solution provably collides: move the target or the "
        "obstacle."
    ),
}
TRACKED: dict[CodedStatus, str] = {
    TrackStatus.AT_LIMIT: (
        "A joint limit is in the way; the joints stop at the closest point of this branch. Move "
        "the target back, or press Switch branch."
    ),
    TrackStatus.STUCK: (
        "No small motion comes closer to the target, so the joints stop. Move the target back, "
        "choose another target kind, or press Switch branch."
    ),
    TrackStatus.OTHER_BRANCH: (
        "The joints have stopped; another branch reaches the target. Press Switch branch."
    ),
    TrackStatus.AT_OBSTACLE: (
        "The joints slow down, slide along it or stop before it. Move the target or the obstacle."
    ),
    TrackStatus.COLLIDES: (
        "The joints move out of contact if they can, and stop otherwise. Move the obstacle, or "
        "move the joints until nothing is red."
    ),
}
PLANNED: dict[CodedStatus, str] = {
    PlanStatus.START_COLLIDES: (
        "A plan cannot start there: move the joints until nothing is red, or move the obstacle. "
        "Then press Plan."
    ),
    PlanStatus.GOAL_COLLIDES: (
        "Every solution found collides or is within the margin: move the target or the obstacle."
    ),
    PlanStatus.GOAL_COLLIDES_ALWAYS: (
        "Every solution of the target provably collides: move the target or the obstacle."
    ),
    PlanStatus.UNREACHABLE: "The target is provably out of reach: move it closer.",
    PlanStatus.NOT_REACHED: (
        "No solution of the target was found: move the target, or choose another target kind."
    ),
    PlanStatus.SAMPLE_LIMIT: (
        "No path was found, but one may exist: move the target or an obstacle, or lower the margin."
    ),
}
BREAKS: dict[CodedStatus, str] = {
    BreakReason.NO_SOLUTION: "No solution was found there or at the previous target: move the "
    "target closer.",
    BreakReason.OUTSIDE_LIMITS: (
        "The arm reaches the target only outside its joint limits: move or turn the target, or "
        "turn on Free roll."
    ),
    BreakReason.COLLIDES: (
        "Every solution found there or at the previous target collides: move the target or the "
        "obstacle."
    ),
    BreakReason.STEP_TOO_LARGE: (
        "Every path found needs a large step of a joint: turn on Free roll, allow some tilt, or "
        "move the target."
    ),
    BreakReason.OTHER_BRANCH: (
        "The arm has to change to another branch, or a joint has to turn back by a full turn: turn "
        "on Free roll, allow some tilt, or move the target."
    ),
    BreakReason.NOT_CLOSED: (
        "The joints do not end where they begin: turn on Free roll, or allow some tilt."
    ),
}
_TEXTS: dict[type[CodedStatus], dict[CodedStatus, str]] = {
    Status: REMEDIES,
    TrackStatus: TRACKED,
    PlanStatus: PLANNED,
    BreakReason: BREAKS,
}


def status_text(status: CodedStatus) -> str:
    """The sentence of a status, with a remedy that the page has.

    Example:
        >>> status_text(PlanStatus.UNREACHABLE)
        'The target is provably out of reach: move it closer.'
    """
    return _TEXTS[type(status)].get(status, str(status.value))


def plan_text(plan: Plan, margin: float) -> str:
    """How planning ended: what collides, how much was tried, and what to do.

    Args:
        plan: The plan.
        margin: The distance to keep [m].
    """
    parts = [plan._details.note, status_text(plan.status)]
    if plan._details.colliding is not None and plan.contact is not None:
        parts.insert(0, "{}, {}.".format(*contact_texts(plan.contact, plan.clearance, margin)))
    return " ".join(filter(None, parts))


def track_text(result: TrackResult) -> str:
    """How a step of tracking ended, and what is in the way."""
    text, contact = status_text(result.status), result.contact
    if contact is None:
        return text
    if result.status is TrackStatus.COLLIDES:
        return f"{contact[0]} collides with {contact[1]}. {text}"
    if result.status is TrackStatus.AT_OBSTACLE:
        return f"{contact[1]} is in the way of {contact[0]}. {text}"
    return text


def contact_texts(names: tuple[str, str], distance: float, margin: float) -> tuple[str, str]:
    """How near two things are to each other, and a detail.

    Args:
        names: Their names.
        distance: Their distance [m]; negative if they collide.
        margin: The distance to keep [m].

    Example:
        >>> contact_texts(("forearm", "wall"), -0.0123, 0.01)
        ('forearm collides with wall', '12.3 mm deep')
        >>> contact_texts(("forearm", "wall"), 0.0021, 0.01)
        ('forearm is 2.1 mm from wall', 'less than the margin of 10 mm')
    """
    (first, second), length = names, f"{1e3 * abs(distance):.1f} mm"
    if distance < 0.0:
        return f"{first} collides with {second}", f"{length} deep"
    return f"{first} is {length} from {second}", f"less than the margin of {1e3 * margin:g} mm"
