/** The shape of an arm: rods between joints, drums for revolute joints, rails for prismatic ones. */
import {
  BoxGeometry, CylinderGeometry, Group, Matrix4, Mesh, Quaternion, SphereGeometry, Vector3,
} from "three";

const HEADER = 1; // numbers before the links in a packed arm
const Z = new Vector3(0, 0, 1);
// Radius of rods, as a share of the arm's length and of the median length of its links.
const RADIUS_PER_SIZE = 0.026;
const RADIUS_PER_LENGTH = 0.26;

/**
 * Solid bodies that move with the joints.
 * @typedef {{link: import("three").Material, joint: import("three").Material}} Materials
 */
export class ArmShape {
  /**
   * @param {import("../live/arm.mjs").Arm} arm
   * @param {Materials} materials
   */
  constructor(arm, materials) {
    this.arm = arm;
    this.root = new Group();
    const n = arm.n;
    const packed = arm.packed.data;
    const places = Array.from({ length: n + 1 }, (_, i) => {
      const [, , , x, , , , y, , , , z] = packed.slice(HEADER + 12 * i, HEADER + 12 * (i + 1));
      return new Vector3(x, y, z);
    });
    this.radius = rodRadius(places);
    // bodies[i] moves with joint i - 1; bodies[0] is the base.
    this.bodies = Array.from({ length: n + 1 }, () => new Group());
    this.root.add(...this.bodies);
    places.forEach((place, i) => this.#addRod(this.bodies[i], place, materials));
    for (let i = 0; i < n; i += 1) {
      this.bodies[i + 1].matrixAutoUpdate = false;
      this.bodies[i + 1].add(this.#joint(arm.isRevolute(i), materials.joint));
    }
    this.root.traverse((each) => (each.castShadow = Boolean(each.isMesh)));
  }

  /** Move the bodies to joint values. */
  move(q) {
    this.frames = this.arm.jointFrames(q);
    for (let i = 0; i < this.arm.n; i += 1) {
      const rows = this.frames.subarray(12 * i, 12 * (i + 1));
      this.bodies[i + 1].matrix.set(...rows, 0, 0, 0, 1);
      this.bodies[i + 1].matrixWorldNeedsUpdate = true;
    }
  }

  /** Where a joint is, after `move`. */
  joint(i) {
    return new Vector3(...[3, 7, 11].map((k) => this.frames[12 * i + k]));
  }

  /** Draw the drum of one joint with another material; -1 for none. */
  highlight(joint, material, other) {
    this.bodies.forEach((body, i) => {
      for (const each of body.children) {
        if (each.userData.isJoint) each.material = i === joint + 1 ? material : other;
      }
    });
  }

  #addRod(body, end, materials) {
    const ball = new Mesh(new SphereGeometry(this.radius, 20, 14), materials.link);
    ball.position.copy(end);
    if (end.length() > 0.2 * this.radius) body.add(rod(new Vector3(), end, this.radius, materials.link));
    body.add(ball);
  }

  #joint(isRevolute, material) {
    const r = this.radius;
    const shape = isRevolute
      ? new CylinderGeometry(1.35 * r, 1.35 * r, 3 * r, 28).rotateX(Math.PI / 2)
      : new BoxGeometry(2.6 * r, 2.6 * r, 3.2 * r);
    const mesh = new Mesh(shape, material);
    mesh.userData.isJoint = true;
    return mesh;
  }

  /** Free the memory of the shapes. */
  dispose() {
    this.root.removeFromParent();
    this.root.traverse((each) => each.geometry?.dispose());
  }
}

/** A cylinder between two points. */
export function rod(start, end, radius, material) {
  const mesh = new Mesh(new CylinderGeometry(radius, radius, 1, 20).rotateX(Math.PI / 2), material);
  stretch(mesh, start, end);
  return mesh;
}

/** Move a rod between two points. */
export function stretch(mesh, start, end) {
  const way = end.clone().sub(start);
  const length = Math.max(way.length(), 1e-9);
  const turn = new Quaternion().setFromUnitVectors(Z, way.divideScalar(length));
  mesh.matrixAutoUpdate = false;
  mesh.matrix = new Matrix4().compose(start.clone().add(end).multiplyScalar(0.5), turn, new Vector3(1, 1, length));
  mesh.matrixWorldNeedsUpdate = true;
}

/** The length of an arm that is stretched. */
export function armLength(arm) {
  const packed = arm.packed.data;
  let total = 0;
  for (let i = 0; i <= arm.n; i += 1) {
    total += Math.hypot(...[3, 7, 11].map((k) => packed[HEADER + 12 * i + k]));
  }
  return total;
}

function rodRadius(places) {
  const lengths = places.map((each) => each.length());
  const size = lengths.reduce((a, b) => a + b, 0);
  const long = lengths.filter((each) => each > 1e-6 * size).sort((a, b) => a - b);
  const median = long.length ? long[long.length >> 1] : Infinity;
  return Math.min(RADIUS_PER_SIZE * size, RADIUS_PER_LENGTH * median);
}
