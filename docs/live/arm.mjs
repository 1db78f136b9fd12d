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

/**
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
   * @param {object} description Its entry in `arms.json`.
   */
  constructor(kernels, description) {
    this.kernels = kernels;
    this.description = description;
    this.n = description.n;
    this.packed = array(decode(description.packed));
    this.start = decode(description.start);
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
    const values = Float64Array.from(target);
    const pose = values.length === 16;
    const task = [
      this.packed,
      pose ? array(values, 4, 4) : array(values, 1, 3),
      this.description[pose ? "pose" : "position"],
    ];
    const q = Float64Array.from(start);
    const found = pose && this.description.decides ? this.#nearest(task, q) : this.#search(task, q);
    const [code, positionError, orientationError, iterations, restarts] = found;
    return { q, status: STATUSES[code], positionError, orientationError, iterations, restarts };
  }

  #search(task, q, criteria = this.description.criteria) {
    return this.kernels.call("search", ...task, criteria, array(q));
  }

  /** The nearest solution in closed form; where there is none, the closest configuration. */
  #nearest(task, q) {
    const { criteria } = this.description;
    const [packed, target] = task;
    const found = this.kernels.call("solve_nearest", packed, this.closedForm, target, criteria, array(q));
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
    if (!this.listsSolutions) throw new TypeError("this arm has no list of all solutions");
    const found = new Float64Array(MAX_SOLUTIONS * this.n);
    const [count] = this.kernels.call(
      "ordered_solutions",
      ...[this.packed, this.closedForm, array(Float64Array.from(pose), 4, 4)],
      ...[array(Float64Array.from(near)), 0.0, this.description.tolerance, true],
      array(found, MAX_SOLUTIONS, this.n),
    );
    return Array.from({ length: count }, (_, k) => found.slice(k * this.n, (k + 1) * this.n));
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
