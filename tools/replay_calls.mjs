/**
 * Makes recorded calls again in WebAssembly: `node tools/replay_calls.mjs FOLDER CALLS`.
 *
 * Compares all results bit for bit; see replay_calls.py.
 */
import { readFileSync } from "node:fs";

import { array, load } from "../docs/live/jointwise.mjs";

const [folder, file] = process.argv.slice(2);
const formats = JSON.parse(readFileSync(`${folder}/jointwise.json`, "utf8"));
const kernels = await load(readFileSync(`${folder}/jointwise.wasm`), formats);
const content = readFileSync(file);
const end = content.indexOf("\n");
const { calls } = JSON.parse(content.subarray(0, end).toString());
const TYPES = { d: Float64Array, q: BigInt64Array, "?": Uint8Array, B: Uint8Array };

/** A recorded value as an argument; with new arrays, since kernels write into them. */
function value(kept) {
  if (Array.isArray(kept)) return kept.map(value);
  if (kept === null || typeof kept !== "object") return kept;
  const Type = TYPES[kept.kind];
  const count = kept.shape.reduce((a, b) => a * b, 1);
  const begin = end + 1 + kept.begin;
  const data = content.subarray(begin, begin + count * Type.BYTES_PER_ELEMENT);
  const typed = new Type(new Uint8Array(data).buffer);
  return kept.shape.length ? array(typed, ...kept.shape) : typed[0];
}

/** A value as text, in which all bits of floats are seen. */
function bits(each) {
  if (Array.isArray(each)) return `[${each.map(bits)}]`;
  if (each?.data) return Buffer.from(each.data.buffer).toString("hex");
  return typeof each === "number" ? new BigUint64Array(new Float64Array([each]).buffer)[0] : each;
}

let total = 0;
let same = 0;
const names = new Set();
for (const call of calls) {
  if (!(call.name in formats)) continue;
  const given = value(call.before);
  const result = kernels.call(call.name, ...given);
  const expected = [call.result ?? []].flat().map(value);
  const equal = bits(result) === bits(expected) && bits(given) === bits(value(call.after));
  if (!equal) console.log(`${call.name}: a call differs`);
  names.add(call.name);
  total += 1;
  same += equal;
}
console.log(`${same} of ${total} calls of ${names.size} entry points, bit for bit.`);
process.exitCode = same === total ? 0 : 1;
