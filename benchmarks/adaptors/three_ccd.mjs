// CCDIKSolver of three.js: position only, one update of 100 iterations, without joint limits.
import { readFileSync, writeFileSync } from "node:fs";
import { Bone, Matrix4, Skeleton, SkinnedMesh, Vector3 } from "three";
import { CCDIKSolver } from "three/examples/jsm/animation/CCDIKSolver.js";

const [, , asked, given, least] = process.argv;
const { links, targets, starts } = JSON.parse(readFileSync(asked));
const mesh = new SkinnedMesh();
const target = new Bone();
const joints = [];
let end = mesh;
links.forEach((link, i) => {
  const fixed = new Bone(); // a link, then the joint that turns about the link's z axis
  fixed.applyMatrix4(new Matrix4().set(...link.flat(), 0, 0, 0, 1));
  end.add(fixed);
  end = fixed;
  if (i < links.length - 1) {
    joints.push(new Bone());
    end.add(joints.at(-1));
    end = joints.at(-1);
  }
});
mesh.add(target);
mesh.bind(new Skeleton([target, end, ...joints]));
const axis = new Vector3(0, 0, 1);
const chain = joints.map((_, i) => ({ index: i + 2, limitation: axis })).reverse();
const solver = new CCDIKSolver(mesh, [{ target: 0, effector: 1, links: chain, iteration: 100 }]);

function onePass() {
  const answers = [], seconds = [];
  targets.forEach((point, i) => {
    const began = performance.now();
    target.position.set(...point);
    joints.forEach((joint, k) => joint.quaternion.setFromAxisAngle(axis, starts[i][k]));
    mesh.updateMatrixWorld(true);
    solver.update();
    answers.push(joints.map(({ quaternion: q }) => 2 * Math.atan2(q.z, q.w)));
    seconds.push((performance.now() - began) / 1000);
  });
  return { answers, seconds, total: seconds.reduce((a, b) => a + b) };
}

onePass(); // to warm up
let best = onePass();
const first = performance.now();
while (performance.now() - first < 1000 * Number(least)) {
  const next = onePass();
  if (next.total < best.total) best = next;
}
writeFileSync(given, JSON.stringify({ answers: best.answers, seconds: best.seconds }));
