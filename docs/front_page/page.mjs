/** The front page: the reader drags the target of an arm, and the arm follows. */
import wasm from "jointwise.wasm";
import formats from "jointwise.json";
import arms from "arms.json";

import { Arm } from "../live/arm.mjs";
import { CCDSteps } from "./ccd_steps.mjs";
import { load } from "../live/jointwise.mjs";
import { Stage } from "./stage.mjs";

const element = (id) => document.getElementById(id);
const DEGREES = 180 / Math.PI;
const TIMED_FOR = 1.5; // a solve is repeated so long: browsers' clocks have steps of 0.1 ms [ms]
const MAX_TIMED = 200;
const CLICK = 4; // a pointer that moves less has clicked [px]
const WORDS = {
  CONVERGED: "Reached", UNREACHABLE: "Out of reach", OUTSIDE_LIMITS: "Outside the joint limits",
};

const state = {
  name: "", arm: null, q: null, pose: null, start: null, answer: null, solutions: [], ccd: null,
};
window.jointwise = state; // for the console, and for tests

/** Begin with an arm. */
function choose(name) {
  state.name = name;
  state.arm = new Arm(kernels, arms[name]);
  // Away from stretched and folded postures.
  state.q = state.arm.home.map((each, k) => each + 0.4 * (k % 2 ? 1 : -1));
  state.arm.clamp(state.q);
  stage.setArm(state.arm, state.q);
  state.pose = state.arm.fk(state.q);
  makeSliders();
  element("ccd-box").open = false;
  endSteps();
}

const isPose = () => element("kind").value === "pose" && !state.ccd;
const target = () => (isPose() ? state.pose : Float64Array.of(state.pose[3], state.pose[7], state.pose[11]));

/** Solve from the present joint values, as a tracker would. */
function solve() {
  state.start = state.q.slice();
  state.answer = state.arm.solve(target(), state.start);
  state.q = state.answer.q;
  const list = isPose() && element("ghosts").checked && state.arm.listsSolutions;
  state.solutions = list ? state.arm.solutions(state.pose, state.q) : [];
  const words = WORDS[state.answer.status] ?? "Not reached";
  const error = `error ${(1e3 * state.answer.positionError).toFixed(2)} mm`;
  const count = state.solutions.length ? `, ${state.solutions.length} solutions` : "";
  element("answer").value = `${words}, ${error}${count}; solved in ${solveTime()} in your browser.`;
  show();
}

/** The mean time of the last solve, as text. */
function solveTime() {
  const [goal, begin] = [target(), performance.now()];
  let count = 0;
  do {
    state.arm.solve(goal, state.start);
    count += 1;
  } while (performance.now() - begin < TIMED_FOR && count < MAX_TIMED);
  const time = (performance.now() - begin) / count;
  return time < 1 ? `${Number((1e3 * time).toPrecision(2))} µs` : `${time.toPrecision(2)} ms`;
}

/** Draw the state, and set the sliders to it. */
function show() {
  const joint = state.ccd?.joint ?? -1;
  // The nearest solution is the arm itself.
  const ghosts = state.solutions.filter((each) => each.some((x, k) => Math.abs(x - state.q[k]) > 1e-3));
  Object.assign(state, { ghosts });
  stage.show({ q: state.q, pose: state.pose, oriented: isPose(), ghosts, joint });
  sliders.forEach(({ input, output, unit }, k) => {
    input.value = state.q[k] * unit.scale;
    output.value = `${(state.q[k] * unit.scale).toFixed(unit.digits)}${unit.name}`.replace("-", "−");
  });
  const lists = state.arm.listsSolutions;
  element("ghosts-label").hidden = !isPose() || !lists;
  element("turns-label").hidden = !isPose();
}

let sliders = [];

/** A slider for each joint, between its limits; the target goes with the arm. */
function makeSliders() {
  const { n, limits } = state.arm;
  sliders = Array.from({ length: n }, (_, k) => {
    const unit = state.arm.isRevolute(k) ? { scale: DEGREES, digits: 1, name: "°" } : { scale: 1e3, digits: 0, name: " mm" };
    const [input, output] = [document.createElement("input"), document.createElement("output")];
    const bounded = (value, other) => (Number.isFinite(value) && Math.abs(value) < 7 ? value : other) * unit.scale;
    Object.assign(input, { type: "range", step: "any", min: bounded(limits[2 * k], -Math.PI), max: bounded(limits[2 * k + 1], Math.PI) });
    input.addEventListener("input", () => {
      state.q[k] = Number(input.value) / unit.scale;
      if (state.ccd) endSteps(false);
      state.pose = state.arm.fk(state.q);
      solve();
    });
    const label = document.createElement("label");
    label.append(`${k + 1}`, input, output);
    return { label, input, output, unit };
  });
  element("joints").replaceChildren(...sliders.map((each) => each.label));
}

/** CCD from joint values; the arm follows the target no more. */
function beginSteps(start = state.arm.start) {
  const [x, y, z] = [3, 7, 11].map((k) => state.pose[k]);
  state.solutions = [];
  state.ccd = new CCDSteps(state.arm, Float64Array.of(x, y, z), start);
  stepped();
}

/** The arm follows the target again. */
function endSteps(follow = true) {
  state.ccd = null;
  element("ccd-answer").value = "";
  if (follow) solve();
}

function stepped() {
  state.q = state.ccd.q.slice();
  element("ccd-answer").value = state.ccd.message();
  element("answer").value = "The arm moves by steps until this section is closed.";
  show();
}

/** Turn the target about the axes of the screen, by a drag. */
function turnTarget(dx, dy) {
  const { right, up } = stage.screen();
  for (const [axis, angle] of [[up, dx / 120], [right, dy / 120]]) rotate(state.pose, axis, angle);
}

/** Rotate a pose about an axis through its origin, in place. */
function rotate(pose, [x, y, z], angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const t = 1 - c;
  const turn = [
    [c + t * x * x, t * x * y - s * z, t * x * z + s * y],
    [t * x * y + s * z, c + t * y * y, t * y * z - s * x],
    [t * x * z - s * y, t * y * z + s * x, c + t * z * z],
  ];
  for (let k = 0; k < 3; k += 1) {
    const column = [pose[k], pose[4 + k], pose[8 + k]];
    turn.forEach((row, i) => (pose[4 * i + k] = row[0] * column[0] + row[1] * column[1] + row[2] * column[2]));
  }
}

/** Move the target on the plane of the screen, by a drag. */
function moveTarget(dx, dy) {
  const { right, up, metres } = stage.screen();
  [3, 7, 11].forEach((k, axis) => (state.pose[k] += metres * (dx * right[axis] - dy * up[axis])));
}

/** What a pointer does on the canvas. */
function connectPointer(canvas) {
  let pointer = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.x, event.clientY - box.y];
  };
  // A finger on the target drags it; one beside it may scroll the page.
  const touched = (event) => stage.onTarget(...place(event.touches[0])) && event.preventDefault();
  canvas.addEventListener("touchstart", touched, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = place(event);
    canvas.setPointerCapture(event.pointerId);
    pointer = { x, y, moved: 0, takes: stage.onTarget(x, y) };
    canvas.dataset.drags = pointer.takes ? "target" : "view";
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!pointer) {
      canvas.dataset.over = stage.onTarget(x, y) ? "target" : "view";
      return;
    }
    const [dx, dy] = [x - pointer.x, y - pointer.y];
    Object.assign(pointer, { x, y, moved: pointer.moved + Math.abs(dx) + Math.abs(dy) });
    if (!pointer.takes) stage.turn(dx, dy);
    else drag(dx, dy);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (pointer?.moved < CLICK && !pointer.takes) pick(...place(event));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      pointer = null;
      delete canvas.dataset.drags;
    });
  }
}

function drag(dx, dy) {
  if (isPose() && element("turns").checked) turnTarget(dx, dy);
  else moveTarget(dx, dy);
  if (state.ccd) {
    beginSteps(state.q); // the sweep that was under way was for another target
  } else solve();
}

/** The arm takes the solution that was clicked. */
function pick(x, y) {
  const ghost = state.ghosts[stage.ghostAt(x, y)];
  if (!ghost) return;
  state.q = ghost.slice();
  solve();
}

function connectControls() {
  element("arm").append(...Object.keys(arms).map((name) => new Option(name)));
  element("arm").value = "panda";
  element("arm").addEventListener("change", (event) => choose(event.target.value));
  element("reset").addEventListener("click", () => choose(state.name));
  for (const id of ["kind", "ghosts"]) {
    element(id).addEventListener("change", () => {
      element("ccd-box").open = false;
      endSteps();
    });
  }
  element("ccd-box").addEventListener("toggle", (event) => {
    if (event.target.open) beginSteps();
    else if (state.ccd) endSteps();
  });
  element("step").addEventListener("click", () => advance(1));
  element("sweep").addEventListener("click", () => advance(state.ccd.leftInSweep));
  element("again").addEventListener("click", () => beginSteps());
}

function advance(count) {
  if (!state.ccd) beginSteps();
  state.ccd.advance(count);
  stepped();
}

let kernels;
let stage;
try {
  stage = new Stage(element("view"));
  connectControls();
  connectPointer(element("view"));
  load(wasm, formats).then((loaded) => {
    kernels = loaded;
    choose("panda");
  });
} catch (error) {
  // Without WebGL, the picture is shown instead.
  document.documentElement.classList.remove("has-live");
  console.info(`jointwise: ${error.message}`);
}
