/**
 * Arms of jointwise in a browser: solve, all solutions, forward kinematics.
 *
 * `arms.json` is written by `python tools/web_arms.py FOLDER`. Answers have the same bits as those
 * of `Chain.solve`, `Chain.solutions` and `Chain.fk` in Python.
 *
 * @example
 * const arm = new Arm(kernels, arms.panda);
 * const { q, status } = arm.solve([0.4, 0.2, 0.5]);
 */
import { array } from "./jointwise.mjs";

/** How a solve ended, by its code. */
export const STATUSES = [
  "CONVERGED", "ITERATION_LIMIT", "STALLED", "OUTSIDE_LIMITS",
  "UNREACHABLE", "INVALID", "COLLIDES", "COLLIDES_ALWAYS",
];
const [CONVERGED, , , OUTSIDE_LIMITS, UNREACHABLE] = STATUSES.keys();
const PENDING = -1;
const MAX_SOLUTIONS = 32;
// Where joint types begin in the packed arm of no joints, and the code of one that turns.
const [KINDS, REVOLUTE] = [13, 0];

/**
 * @typedef {object} Description An arm as `arms.json` has it; arrays are float64 in base64.
 * @property {number} n Joints.
 * @property {string} packed
 * @property {string} start Joint values that a solve starts from.
 * @property {string} home Joint values at rest, as `Chain.home`.
 * @property {string} limits
 * @property {number[]} position Weights of a position.
 * @property {number[]} pose Weights of a pose.
 * @property {[number, number, number, boolean, number]} criteria When a solve stops.
 * @property {string | null} closedForm
 * @property {boolean} decides Whether the closed form alone solves for a pose.
 * @property {number | null} tolerance Of the closed form that lists all solutions.
 *
 * @typedef {import("./jointwise.mjs").NumberArray} NumberArray
 * @typedef {[NumberArray, NumberArray, number[]]} Task An arm, a target and its weights.
 * @typedef {number[]} Outcome Status code, both errors, iterations, restarts.
 *
 * @typedef {object} Solution
 * @property {Float64Array} q Joint values [rad, m].
 * @property {string} status One of `STATUSES`.
 * @property {number} positionError [m]
 * @property {number} orientationError [rad]; of no meaning for a position.
 * @property {number} iterations
 * @property {number} restarts
 */

/** An arm with a fixed base. */
export class Arm {
  /**
   * @param {import("./jointwise.mjs").Kernels} kernels
   * @param {Description} description Its entry in `arms.json`.
   */
  constructor(kernels, description) {
    this.kernels = kernels;
    this.description = description;
    this.n = description.n;
    this.packed = array(decode(description.packed));
    this.start = decode(description.start);
    this.home = decode(description.home);
    this.limits = decode(description.limits);
    const form = description.closedForm;
    this.closedForm = form === null ? null : array(decode(form));
  }

  /** Whether `solutions` lists all solutions of a pose. */
  get listsSolutions() {
    return this.description.tolerance !== null;
  }

  /**
   * Joint values that reach a target.
   * @param {ArrayLike<number>} target 3 numbers: a position [m]; 16: a pose, row by row.
   * @param {ArrayLike<number>} [start] Joint values to start from.
   * @returns {Solution}
   */
  solve(target, start = this.start) {
    const task = this.#task(target);
    const q = Float64Array.from(start);
    const decides = target.length === 16 && this.description.decides;
    const found = decides ? this.#nearest(task, q) : this.#search(task, q);
    const [code, positionError, orientationError, iterations, restarts] = found;
    return { q, status: STATUSES[code], positionError, orientationError, iterations, restarts };
  }

  /**
   * @param {ArrayLike<number>} target
   * @returns {Task}
   */
  #task(target) {
    const values = Float64Array.from(target);
    if (values.length === 16) return [this.packed, array(values, 4, 4), this.description.pose];
    if (values.length === 3) return [this.packed, array(values, 1, 3), this.description.position];
    throw new TypeError(`a target of ${values.length} numbers: expected 3, a position, or 16, a pose`);
  }

  /**
   * @param {Task} task
   * @param {Float64Array} q
   * @returns {Outcome}
   */
  #search(task, q, criteria = this.description.criteria) {
    return this.kernels.call("search", ...task, criteria, array(q)).map(Number);
  }

  /**
   * The nearest solution in closed form; where there is none, the closest configuration.
   * @param {Task} task
   * @param {Float64Array} q
   * @returns {Outcome}
   */
  #nearest(task, q) {
    const { criteria } = this.description;
    const [packed, target] = task;
    const form = this.#form();
    const found = this.kernels.call("solve_nearest", packed, form, target, criteria, array(q)).map(Number);
    if (found[0] === PENDING) return this.#search(task, q);
    if (found[0] !== OUTSIDE_LIMITS && found[0] !== UNREACHABLE) return found;
    const local = this.#search(task, q, [criteria[0], criteria[1], 0, criteria[3], criteria[4]]);
    return local[0] === CONVERGED ? local : [found[0], ...local.slice(1)];
  }

  /**
   * All solutions of a pose within the limits, the nearest to a configuration first.
   * @param {ArrayLike<number>} pose 16 numbers, row by row.
   * @param {ArrayLike<number>} [near] Joint values.
   * @returns {Float64Array[]}
   */
  solutions(pose, near = this.start) {
    const { tolerance } = this.description;
    if (tolerance === null) throw new TypeError("this arm has no list of all solutions");
    const found = new Float64Array(MAX_SOLUTIONS * this.n);
    const [count] = this.kernels.call(
      "ordered_solutions",
      ...[this.packed, this.#form(), array(Float64Array.from(pose), 4, 4)],
      ...[array(Float64Array.from(near)), 0.0, tolerance, true],
      array(found, MAX_SOLUTIONS, this.n),
    );
    return Array.from({ length: Number(count) }, (_, k) => found.slice(k * this.n, (k + 1) * this.n));
  }

  /**
   * Joint values after one sweep of Cyclic Coordinate Descent, which moves each joint once, from
   * the end effector to the base.
   * @param {ArrayLike<number>} target As for `solve`.
   * @param {ArrayLike<number>} start
   * @returns {Float64Array}
   */
  sweep(target, start) {
    const q = Float64Array.from(start);
    this.kernels.call("sweep_once", ...this.#task(target), this.description.criteria, array(q));
    return q;
  }

  /**
   * Bring joint values inside the limits, in place.
   * @param {Float64Array} q
   */
  clamp(q) {
    this.kernels.call("clamp_to_limits", this.packed, array(q));
  }

  #form() {
    if (this.closedForm === null) throw new TypeError("this arm has no closed form");
    return this.closedForm;
  }

  /**
   * Whether a joint turns; others slide.
   * @param {number} joint From 0 at the base.
   */
  isRevolute(joint) {
    return this.packed.data[KINDS + 12 * this.n + joint] === REVOLUTE;
  }

  /**
   * The pose of the end effector, base frame.
   * @param {ArrayLike<number>} q
   * @returns {Float64Array} 16 numbers, row by row.
   */
  fk(q) {
    const pose = new Float64Array(16);
    const values = array(Float64Array.from(q), 1, this.n);
    this.kernels.call("tip_poses", this.packed, values, array(pose, 1, 4, 4));
    return pose;
  }

  /**
   * The frames that the joints carry, base frame.
   * @param {ArrayLike<number>} q
   * @returns {Float64Array} 12 numbers for each joint: three rows of a pose.
   */
  jointFrames(q) {
    const frames = new Float64Array(12 * this.n);
    const jacobian = new Float64Array(6 * this.n);
    const arrays = [array(frames, this.n, 3, 4), array(jacobian, this.n, 6)];
    this.kernels.call("frames_and_jacobian", this.packed, array(Float64Array.from(q)), ...arrays);
    return frames;
  }
}

/**
 * An array of float64 from base64.
 * @param {string} text
 * @returns {Float64Array}
 */
export function decode(text) {
  return new Float64Array(Uint8Array.from(atob(text), (each) => each.charCodeAt(0)).buffer);
}
