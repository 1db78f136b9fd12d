/** CCD step by step: a step moves one joint, a sweep all, from the end effector to the base. */

const DEGREES = 180 / Math.PI;

export class CCDSteps {
  /**
   * @param {import("../live/arm.mjs").Arm} arm
   * @param {ArrayLike<number>} target
   * @param {ArrayLike<number>} start Joint values.
   */
  constructor(arm, target, start) {
    this.arm = arm;
    this.target = target;
    this.q = Float64Array.from(start);
    this.swept = null; // after the sweep that is under way
    this.done = 0;
    this.change = 0;
  }

  /** The joint that the latest step moved, from 0 at the base; -1 before the first step. */
  get joint() {
    return this.done ? this.arm.n - 1 - ((this.done - 1) % this.arm.n) : -1;
  }

  /** Steps to the end of the sweep. */
  get leftInSweep() {
    return this.arm.n - (this.done % this.arm.n);
  }

  /** Do some steps. */
  advance(count) {
    for (let k = 0; k < count; k += 1) {
      // A sweep moves each joint once, after those behind it: its result holds every step.
      if (this.done % this.arm.n === 0) this.swept = this.arm.sweep(this.target, this.q);
      this.done += 1;
      this.change = this.swept[this.joint] - this.q[this.joint];
      this.q[this.joint] = this.swept[this.joint];
    }
  }

  /** What the latest step did, and how far the end effector is from the target. */
  message() {
    const tip = this.arm.fk(this.q);
    const place = this.target.length === 3 ? this.target : [3, 7, 11].map((k) => this.target[k]);
    const away = 1e3 * Math.hypot(...[3, 7, 11].map((k, axis) => tip[k] - place[axis]));
    const left = `${away.toPrecision(3)} mm from the target.`;
    if (!this.done) return left;
    const sweep = Math.ceil(this.done / this.arm.n);
    const change = this.arm.isRevolute(this.joint)
      ? `${(this.change * DEGREES).toFixed(1)}°`
      : `${(1e3 * this.change).toFixed(0)} mm`;
    return `Sweep ${sweep}, joint ${this.joint + 1}: ${change.replace("-", "−")}; ${left}`;
  }
}
