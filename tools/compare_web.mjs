/**
 * Compares answers in WebAssembly with those of Python: `node tools/compare_web.mjs FOLDER`.
 *
 * The folder has jointwise.wasm and jointwise.json, arms.json and expected.json. Also prints the
 * time of a solve.
 */
import { readFileSync } from "node:fs";

import { Arm, decode } from "../docs/live/arm.mjs";
import { load } from "../docs/live/jointwise.mjs";

const [folder] = process.argv.slice(2);
const opened = performance.now();
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
const kernels = await load(readFileSync(`${folder}/jointwise.wasm`), read("jointwise"));
const arms = read("arms");
new Arm(kernels, arms.panda).solve([0.4, 0.2, 0.5]);
const first = (performance.now() - opened).toFixed(0);
const same = (a, b) => Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer)) === 0;

let total = 0;
let equal = 0;
for (const [name, answers] of Object.entries(read("expected"))) {
  const arm = new Arm(kernels, arms[name]);
  for (const answer of answers) {
    const target = decode(answer.target);
    const { q, status, iterations } = arm.solve(target);
    const isSame =
      same(q, decode(answer.q)) && status === answer.status &&
      iterations === answer.iterations && same(arm.fk(q), decode(answer.tip));
    if (!isSame) console.log(`${name}: an answer differs`, status, answer.status);
    total += 1;
    equal += isSame;
  }
}
const arm = new Arm(kernels, arms.panda);
const targets = read("expected").panda.filter((each) => each.status === "CONVERGED");
const poses = targets.map((each) => decode(each.target)).filter((each) => each.length === 16);
let best = Infinity;
for (let round = 0; round < 300; round += 1) {
  const begin = performance.now();
  for (const pose of poses) arm.solve(pose);
  best = Math.min(best, (performance.now() - begin) / poses.length);
}
const time = `${(1e3 * best).toFixed(1)} µs a solve of the Panda, ${poses.length} poses; first answer after ${first} ms`;
console.log(`${equal} of ${total} answers of arms, bit for bit; ${time}.`);
process.exitCode = equal === total ? 0 : 1;
