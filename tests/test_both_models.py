"""Changes of a model, its results and its scene are those of arms and whole robots alike."""

import pickle

import numpy as np
import pytest

from jointwise import (
    Chain,
    IKBatch,
    InvalidInputError,
    Posture,
    Robot,
    Scene,
    SolveConfig,
    Status,
    direction,
    pose,
)
from tests.support.facades import (
    BASE,
    PILLAR,
    TABLE,
    TOOL,
    UR5E,
    Q,
    attach,
    both,
    jacobian,
    tip,
    to,
    with_tool,
)

# The same model, otherwise


@both
@pytest.mark.parametrize("place", [None, BASE], ids=["here", "elsewhere"])
def test_the_jacobian_is_the_derivative_of_forward_kinematics(facade, place):
    model, step = facade.load("stanford"), 1e-6
    model = model if place is None else model.with_base(place)
    q = model.random(3)
    found, here = jacobian(model, q), tip(model, q)
    for i in range(model.n):
        change = step * (np.arange(model.n) == i)
        moved = (tip(model, q + change) - tip(model, q - change)) / (2.0 * step)
        turned = moved[:3, :3] @ here[:3, :3].T
        angular = [turned[2, 1], turned[0, 2], turned[1, 0]]
        np.testing.assert_allclose(found[:, i], [*moved[:3, 3], *angular], atol=1e-8)


@both
def test_a_tool_is_one_more_link(facade):
    model = facade.load("ur5e")
    longer = with_tool(model, TOOL)
    reached = tip(longer, Q, "tool")
    np.testing.assert_allclose(reached, tip(model, Q) @ TOOL.matrix, atol=1e-15)
    result = longer.solve(to(longer, reached, "tool"), Q)
    assert (result.converged, result.iterations) == (True, 0)
    assert list(result.errors) == ["tool"]
    robot = longer.robot if facade is Chain else longer
    assert robot.link_names == (*UR5E.robot.link_names, "tool")


@both
def test_a_base_moves_targets_and_shape_but_not_the_scene(facade):
    model = facade.load("ur5e")
    moved = model.with_base(BASE)
    np.testing.assert_allclose(tip(moved, Q), BASE.matrix @ tip(model, Q), atol=1e-15)
    np.testing.assert_allclose(moved.base_pose, BASE.matrix, atol=1e-15)
    result = moved.solve(to(moved, tip(moved, Q)), Q)
    assert (result.converged, result.iterations) == (True, 0)
    q, inverse = model.random(4, 20), np.linalg.inv(BASE.matrix)
    expected = model.with_scene(Scene().box([1.0, 2.0, 0.04], inverse, name="table")).clearance(q)
    scene = Scene().box([1.0, 2.0, 0.04], name="table")
    for there in (moved.with_scene(scene), model.with_scene(scene).with_base(BASE)):
        assert there.scene is scene
        np.testing.assert_allclose(there.clearance(q), expected, atol=1e-9)
        again = there.with_base([0.0, 0.0, 0.0])  # replaces the other
        np.testing.assert_allclose(again.clearance(q), model.with_scene(scene).clearance(q))
        np.testing.assert_allclose(tip(again, Q), tip(model, Q), atol=1e-15)
    if facade is Robot:
        np.testing.assert_allclose(moved.chain().fk(Q), tip(moved, Q), atol=1e-15)
        there = moved.with_scene(scene).chain()
        np.testing.assert_allclose(there.clearance(q), expected, atol=1e-9)


@both
def test_limits_by_array_and_by_name_are_obeyed(facade):
    model = facade.load("panda")
    narrow = np.stack([model.mid_range - 0.3, model.mid_range + 0.3], axis=1)
    names = dict(zip(model.joint_names, narrow.tolist(), strict=True))
    for limited in (model.with_limits(narrow), model.with_limits(names)):
        assert limited.limits.tolist() == narrow.tolist()
        batch = limited.solve_batch(to(limited, tip(model, model.random(3, 20))), model.random(4))
        assert (batch.q >= narrow[:, 0]).all()
        assert (batch.q <= narrow[:, 1]).all()
        assert not batch.converged.all()
    assert np.isinf(model.with_limits(None).limits).all()
    one = model.with_limits({"panda_joint3": [-0.1, 0.2]})
    assert one.limits[2].tolist() == [-0.1, 0.2]
    assert one.limits[[0, 1, 3]].tolist() == model.limits[[0, 1, 3]].tolist()
    with pytest.raises(InvalidInputError, match="no joint named 'elbow'"):
        model.with_limits({"elbow": [0.0, 1.0]})


@both
def test_what_is_attached_is_checked_until_it_is_detached(facade):
    model, q = facade.load("ur5e").with_scene(TABLE), UR5E.random(5, 40)
    holding = attach(model, "ball", [0.0, 0.0, 0.15], sphere=0.05)
    assert holding.geometry.attached == ("ball",)
    assert holding.geometry.count == model.geometry.count + 1
    above = np.array([(tip(model, each) @ [0.0, 0.0, 0.15, 1.0])[2] for each in q])
    alone = above - 0.05 - (-0.08)  # from the ball to the top of the table
    beside = np.array([(tip(model, each) @ [0.0, 0.0, 0.15, 1.0])[:2] for each in q])
    over_table = (np.abs(beside - [0.5, 0.0]) <= [0.5, 1.0]).all(axis=1) & (alone > 0.0)
    assert over_table.sum() > 5
    assert (holding.clearance(q) <= model.clearance(q)).all()
    assert (holding.clearance(q)[over_table] <= alone[over_table] + 1e-12).all()
    assert (holding.clearance(q) < model.clearance(q)).any()
    assert holding.detach().clearance(q).tolist() == model.clearance(q).tolist()
    result = holding.solve(to(holding, UR5E.fk(Q)), Q)
    assert result.converged
    assert result.clearance >= 0.0


@both
@pytest.mark.parametrize("place", [None, BASE], ids=["here", "elsewhere"])
def test_a_model_survives_its_urdf(facade, place):
    model = facade.load("stanford")
    model = model if place is None else model.with_base(place)
    again = facade.from_urdf(model.to_urdf())
    assert again.joint_names == model.joint_names
    assert again.limits.tolist() == model.limits.tolist()
    assert (again.max_velocity >= 1e6).all()  # unknown
    for q in model.random(1, 10):
        np.testing.assert_allclose(tip(again, q), tip(model, q), atol=1e-15)
    arm = again if facade is Chain else again.chain()
    np.testing.assert_allclose(arm.fk(q), tip(model, q), atol=1e-15)


# Results


@both
@pytest.mark.parametrize("several", [False, True])
def test_a_batch_has_a_summary_a_file_and_contacts(facade, several, tmp_path):
    model = facade.load("ur5e").with_scene(TABLE, margin=0.01)
    poses = tip(model, model.random(7, 12))
    poses[2, :3, 3] = [9.0, 0.0, 0.0]
    targets = to(model, poses)
    if several and facade is Robot:
        targets["link1"] = np.tile([0.0, 0.0, 0.1625], (12, 1))
    batch = model.solve_batch(targets, config=SolveConfig(max_restarts=5))
    assert batch.summary().startswith(f"{batch.converged.sum()} of 12 solved")
    assert str(batch) == batch.summary()
    assert (batch.clearance[batch.converged] >= 0.01).all()
    for row, clearance, contact in zip(batch, batch.clearance, batch.contact, strict=True):
        assert row.clearance == clearance == pytest.approx(model.clearance(row.q), abs=1e-12)
        assert row.contact == contact
        assert set(contact) <= {*model.geometry.names, "table"}
    batch.save(tmp_path / "batch.npz")
    again = IKBatch.load(tmp_path / "batch.npz")
    assert again.summary() == batch.summary()
    assert list(again) == list(batch)
    for link, errors in batch.errors.items():
        loaded = again.errors.get(link, again.errors.get("tip"))
        assert np.array_equal(loaded, errors, equal_nan=True)


@both
def test_results_can_be_compared_and_pickled(facade):
    model = facade.load("ur5e").with_scene(TABLE)
    poses = tip(model, model.random(7, 4))
    poses[3, 0, 3] = np.nan
    batch, path = model.solve_batch(to(model, poses)), model.solve_path(to(model, poses[:3]))
    alone = model.solve(to(model, poses[0]))
    assert batch[0] == batch[0] == alone != batch[1]
    assert batch[3] == batch[3]
    assert path[0] == path[0] != path[1]
    assert len({batch[0], batch[0], alone, batch[1]}) == 2
    for each in (alone, batch[3]):
        again = pickle.loads(pickle.dumps(each))
        assert again == each
        assert again.contact == each.contact
        assert again.errors.keys() == each.errors.keys()
    assert list(pickle.loads(pickle.dumps(batch))) == list(batch)
    assert pickle.loads(pickle.dumps(path)).breaks == path.breaks


def test_solutions_can_be_compared():
    found = UR5E.solutions(UR5E.fk(Q))
    assert found[0] == found[0] != found[1]
    assert found[0] in list(found)
    assert found[0].errors.keys() == UR5E.solve(UR5E.fk(Q)).errors.keys() == {"tip"}
    longer = UR5E.with_tool([0.0, 0.0, 0.1], "torch")
    target = pose([0.4, 0.2, 0.3], rpy=[3.0, 0.0, 0.0], point=[0.0, 0.0, 0.01])
    assert longer.solutions(target)[0].errors.keys() == {"torch"}


@both
def test_steps_of_a_tracker_can_be_compared(facade):
    model = facade.load("ur5e")
    steps = [to(model, tip(model, Q + 0.01 * i)) for i in range(3)]
    steps[2] = to(model, np.full((4, 4), np.nan))

    def track():
        return model.track(Q, 0.01, max_velocity=1.0, max_acceleration=5.0)

    many = to(model, np.array([step if facade is Chain else step["tip"] for step in steps]))
    run, tracker = track().run(many), track()
    for i, step in enumerate(steps):
        assert run[i] == run[i] == tracker.step(step)
        assert hash(run[i]) == hash(run[i])
    assert run[0] != run[1] != 5
    assert len({*(run[i] for i in (0, 0, 1))}) == 2


@both
def test_statuses_are_sentences(facade):
    model = facade.load("ur5e").with_scene(Scene().sphere(0.3, [9.0, 0.0, 0.0], name="moon"))
    found = model.solve(to(model, UR5E.fk(Q)))
    assert str(found).splitlines()[0] == found.message == Status.CONVERGED.value
    far = model.solve(to(model, [9.0, 0.0, 0.0]))
    assert (
        str(far).splitlines()[0]
        == f"Missed by {far.position_error:.3g} m. {Status.UNREACHABLE.value}"
    )
    ball = Scene().sphere(0.05, UR5E.fk(Q)[:3, 3], name="ball")
    hit = model.with_scene(ball).solve(to(model, UR5E.fk(Q)))
    assert hit.status is Status.COLLIDES_ALWAYS
    assert hit.missed == ()
    assert str(hit).startswith("'wrist_3_link")
    assert (
        str(hit)
        .splitlines()[0]
        .endswith(f"'ball' overlap by {-hit.clearance:.3g} m. {hit.status.value}")
    )


# Scenes


def test_a_chain_of_a_robot_has_its_shape_and_scene():
    robot = Robot.load("ur5e").with_scene(PILLAR, margin=0.02, self_collision=False)
    arm, q = robot.chain(), robot.random(8, 200)
    assert (arm.scene, arm.margin) == (PILLAR, 0.02)
    assert arm.geometry.count == robot.geometry.count
    assert arm.clearance(q).tolist() == robot.clearance(q).tolist()
    assert arm.is_free(q).tolist() == robot.is_free(q).tolist()
    shaped = Robot.load("ur5e").with_geometry("ur5e").chain()
    assert shaped.geometry.count == robot.geometry.count
    assert shaped.scene is None
    first = Robot.load("ur5e").chain().with_scene(PILLAR, margin=0.02, self_collision=False)
    assert first.clearance(q).tolist() == robot.clearance(q).tolist()
    part, held = robot.chain("base_link", "link3"), q.copy()
    held[:, 3:] = 0.0  # joints beyond the end effector do not move
    assert part.clearance(q[:, :3]) == pytest.approx(robot.clearance(held), abs=1e-12)
    rest, above = robot.chain("link1", "tip"), q.copy()
    above[:, 0] = 0.0  # a joint before the base link does not move
    moving = robot.clearance(above)
    assert (rest.clearance(q[:, 1:]) >= moving - 1e-12).all()  # link1 stands still now
    np.testing.assert_allclose(rest.fk(q[:, 1:]), robot.fk(above)["tip"], atol=1e-12)
    with pytest.raises(InvalidInputError, match="its root moves relative to 'link3' in this chain"):
        robot.chain("link3", "base_link")


@both
def test_a_scene_replaces_another(facade):
    model = facade.load("ur5e")
    assert (model.scene, model.margin, model.geometry) == (None, 0.0, None)
    first = model.with_scene(PILLAR, margin=0.05, self_collision=False)
    second = first.with_scene(TABLE)
    q = model.random(9, 50)
    assert (second.scene, second.margin) == (TABLE, 0.0)
    assert second.clearance(q).tolist() == model.with_scene(TABLE).clearance(q).tolist()
    assert (first.scene, first.margin) == (PILLAR, 0.05)
    alone = second.with_scene()
    assert len(alone.scene) == 0
    assert (alone.clearance(q) >= second.clearance(q)).all()
    assert second.geometry is first.geometry


VERBS = {
    "solve": lambda model, poses: [model.solve(to(model, each)) for each in poses],
    "solve_batch": lambda model, poses: model.solve_batch(to(model, poses)),
    "a posture": lambda model, poses: model.solve_batch(to(model, poses), posture=Posture(Q)),
    "active joints": lambda model, poses: model.solve_batch(
        to(model, poses[:, :3, 3].copy()), posture=Posture(active=model.joint_names[:-1])
    ),
    "CCD": lambda model, poses: model.solve_batch(
        to(model, poses[:, :3, 3].copy()), config=SolveConfig(1e-3, method="ccd")
    ),
    "a direction": lambda model, poses: model.solve_batch(to(model, direction(poses[:, :3, 2]))),
    "solve_path": lambda model, poses: model.solve_path(to(model, poses)),
    "solve_paths": lambda model, poses: model.solve_paths([to(model, poses)])[0],
}


@both
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_obeys_the_scene(facade, verb):
    model = facade.load("ur5e").with_scene(PILLAR, margin=0.01)
    poses = tip(model, model.random(10, 60))
    results = list(VERBS[verb](model, poses))
    without = list(VERBS[verb](facade.load("ur5e"), poses))
    solved = np.array([each.q for each in results if each.converged])
    assert len(solved) > 5
    assert model.is_free(solved).all()
    statuses = {each.status for each in results}
    assert statuses & {Status.COLLIDES, Status.COLLIDES_ALWAYS} or all(
        each.converged for each in results
    )
    assert not model.is_free(np.array([each.q for each in without if each.converged])).all()


@both
def test_a_model_with_a_scene_is_pickled(facade):
    model = attach(facade.load("ur5e"), "ball", sphere=0.05).with_base(BASE)
    model = with_tool(model.with_scene(PILLAR, margin=0.01), TOOL)
    again = pickle.loads(pickle.dumps(model))
    q, poses = model.random(11, 20), tip(model, model.random(12, 5), "tool")
    assert again.margin == 0.01
    assert again.clearance(q).tolist() == model.clearance(q).tolist()
    many = to(model, poses, "tool")
    assert list(again.solve_batch(many)) == list(model.solve_batch(many))
    bare = pickle.loads(pickle.dumps(facade.load("ur5e")))
    assert bare.with_scene(TABLE).clearance(q).tolist() == (
        facade.load("ur5e").with_scene(TABLE).clearance(q).tolist()
    )
