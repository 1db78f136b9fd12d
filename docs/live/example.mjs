/** An example page: the target of an arm is dragged, and every answer is drawn. */
import { Arm } from "./arm.mjs";
import { load } from "./jointwise.mjs";

const element = (id) => document.getElementById(id);
const json = async (name) => (await fetch(`${name}.json`)).json();
const canvas = element("view");
const GRAB = 24; // distance from the target within which a pointer takes it [px]

const wasm = await (await fetch("jointwise.wasm")).arrayBuffer();
const kernels = await load(wasm, await json("jointwise"));
const arms = await json("arms");

const view = { turn: -0.9, tilt: 0.45, size: 1.0 };
const state = { arm: null, pose: null, q: null, answer: null, dragged: null };
window.jointwise = state; // for the console, and for tests

/** Choose an arm; its target is where its end effector is. */
function choose(name) {
  state.arm = new Arm(kernels, arms[name]);
  state.q = Float64Array.from(state.arm.start, (each, k) => each + 0.3 * (k % 2 ? 1 : -1));
  state.pose = state.arm.fk(state.q);
  const joints = points(state.q);
  const lengths = joints.slice(1).map((each, k) => Math.hypot(...each.map((x, a) => x - joints[k][a])));
  view.size = lengths.reduce((a, b) => a + b, 0); // no part is farther from the base
  solve();
}

/** Solve from the last answer, as a tracker would. */
function solve() {
  const begin = performance.now();
  state.answer = state.arm.solve(state.pose, state.q);
  const time = performance.now() - begin;
  state.q = state.answer.q;
  const { status, positionError } = state.answer;
  const place = [3, 7, 11].map((k) => state.pose[k].toFixed(3)).join(", ");
  element("answer").value =
    `Target ${place} m: ${status}, ${(1e3 * positionError).toExponential(1)} mm off, in ${time.toFixed(2)} ms.`;
  requestAnimationFrame(draw);
}

/** The origins of base, joints and end effector. */
function points(q) {
  const frames = state.arm.jointFrames(q);
  const tip = state.arm.fk(q);
  const at = (array, begin) => [array[begin + 3], array[begin + 7], array[begin + 11]];
  return [[0, 0, 0], ...Array.from({ length: state.arm.n }, (_, k) => at(frames, 12 * k)), at(tip, 0)];
}

/** The axes of the screen in the base frame. */
function axes() {
  const [c, s, ct, st] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
  return [[c, s, 0], [-st * s, st * c, ct]];
}

const scale = () => Math.min(canvas.clientWidth, canvas.clientHeight) / (2.4 * view.size);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Where a point is on the screen [px]. */
function project(point) {
  const [right, up] = axes();
  return [
    canvas.clientWidth / 2 + scale() * dot(right, point),
    canvas.clientHeight * 0.6 - scale() * dot(up, point),
  ];
}

function draw() {
  const ratio = window.devicePixelRatio;
  [canvas.width, canvas.height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  // light-dark() is resolved in the style of an element.
  const color = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const line = (list, style, width) => {
    context.beginPath();
    list.map(project).forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    Object.assign(context, { strokeStyle: style, lineWidth: width, lineJoin: "round", lineCap: "round" });
    context.stroke();
  };
  for (let k = -4; k <= 4; k += 1) {
    const end = view.size;
    line([[(k * end) / 4, -end, 0], [(k * end) / 4, end, 0]], color("--ghost"), 0.5);
    line([[-end, (k * end) / 4, 0], [end, (k * end) / 4, 0]], color("--ghost"), 0.5);
  }
  if (element("ghosts").checked && state.arm.listsSolutions) {
    for (const q of state.arm.solutions(state.pose, state.q)) line(points(q), color("--ghost"), 3);
  }
  line(points(state.q), color("--arm"), 7);
  const [x, y] = project(target());
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.fillStyle = color("--target");
  context.fill();
}

const probe = document.body.appendChild(document.createElement("i"));
const target = () => [state.pose[3], state.pose[7], state.pose[11]];

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  const [x, y] = project(target());
  const near = Math.hypot(event.offsetX - x, event.offsetY - y) < GRAB;
  state.dragged = near ? "target" : "view";
});
canvas.addEventListener("pointermove", (event) => {
  if (state.dragged === "view") {
    view.turn -= event.movementX / 150;
    view.tilt = Math.max(0, Math.min(1.5, view.tilt + event.movementY / 150));
    requestAnimationFrame(draw);
  } else if (state.dragged === "target") {
    const [right, up] = axes();
    const [dx, dy] = [event.movementX / scale(), -event.movementY / scale()];
    [3, 7, 11].forEach((k, axis) => (state.pose[k] += dx * right[axis] + dy * up[axis]));
    solve();
  }
});
for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, () => (state.dragged = null));
}
element("ghosts").addEventListener("change", draw);
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
element("arm").append(...Object.keys(arms).map((name) => new Option(name)));
element("arm").addEventListener("change", (event) => choose(event.target.value));
choose(element("arm").value);
