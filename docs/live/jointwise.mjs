/**
 * The kernels of jointwise in WebAssembly, with the same bits as in Python.
 *
 * `jointwise.wasm` and `jointwise.json` are written by
 * `python -m jointwise.kernels.native.wasm FOLDER`. Nothing else is needed: no server, no network.
 *
 * @example
 * const kernels = await load(await (await fetch("jointwise.wasm")).arrayBuffer(), formats);
 * const poses = new Float64Array(16);
 * kernels.call("tip_poses", array(arm), array(q, 1, 7), array(poses, 1, 4, 4));
 */

/** Slots of the results, before those of the arguments; as in native.c. */
const RESULTS = 8;
const SLOTS = 96;

/**
 * @typedef {Float64Array | BigInt64Array | Uint8Array} Numbers
 * @typedef {{data: Numbers, shape: number[]}} NumberArray An argument with axes; written in place.
 * @typedef {number | boolean | NumberArray | Argument[]} Argument An array of arguments is a tuple.
 */

/**
 * An array as an argument.
 * @param {Numbers} data
 * @param {...number} shape Its lengths; none for one axis.
 * @returns {NumberArray}
 */
export function array(data, ...shape) {
  return { data, shape: shape.length ? shape : [data.length] };
}

/**
 * Compile the kernels.
 * @param {BufferSource} wasm The content of `jointwise.wasm`.
 * @param {Record<string, [string, string]>} formats The content of `jointwise.json`.
 * @returns {Promise<Kernels>}
 */
export async function load(wasm, formats) {
  const { instance } = await WebAssembly.instantiate(wasm, {});
  return new Kernels(instance.exports, formats);
}

/** Entry points of jointwise; `formats` lists them with the types of arguments and results. */
export class Kernels {
  constructor(exports, formats) {
    this.exports = exports;
    this.formats = formats;
  }

  /**
   * Call an entry point.
   * @param {string} name As in Python, such as "search".
   * @param {...Argument} values Arrays are modified as Python's are.
   * @returns {(number | boolean)[]} The numbers that it returns.
   */
  call(name, ...values) {
    if (!(name in this.formats)) {
      throw new RangeError(`no kernel ${name}: expected one of ${Object.keys(this.formats)}`);
    }
    const [format, results] = this.formats[name];
    const marked = this.exports.mark();
    try {
      const call = new Call(this.exports);
      const rest = values.reduce((left, value) => call.read(value, left), format);
      if (rest) throw new TypeError(`${name}: arguments are missing, ${values.length} given`);
      const status = this.exports[`jointwise_${name}_${call.weights}`](call.slots);
      if (status) throw new RangeError("memory ran out");
      return call.finish(results);
    } finally {
      this.exports.release(marked);
    }
  }
}

/** The slots of one call: arguments in memory of WebAssembly. */
class Call {
  constructor(exports) {
    this.exports = exports;
    this.slots = this.allocate(8 * SLOTS);
    this.next = this.slots + 8 * RESULTS;
    this.weights = 0;
    this.arrays = [];
  }

  allocate(size) {
    const address = this.exports.allocate(size);
    if (!address) throw new RangeError("memory ran out");
    return address;
  }

  /** Fill the slots of one argument; returns the rest of the format. */
  read(value, format) {
    const kind = format[0];
    if (kind === "(") {
      const rest = value.reduce((left, field) => this.read(field, left), format.slice(1));
      return rest.slice(1);
    }
    if (kind === "w") {
      this.weights = value.length;
      value.forEach((each) => this.put("d", each));
      return format.slice(1);
    }
    if (/\d/.test(format[1] ?? "")) {
      this.readArray(value, Number(format[1]));
      return format.slice(2);
    }
    this.put(kind, value);
    return format.slice(1);
  }

  readArray({ data, shape }, axes) {
    if (shape.length !== axes) throw new TypeError(`${shape.length} axes: expected ${axes}`);
    const address = this.allocate(data.byteLength);
    new Uint8Array(this.exports.memory.buffer, address).set(bytes(data));
    this.arrays.push({ data, address });
    [address, ...shape].forEach((each) => this.put("i", each));
  }

  put(kind, value) {
    const view = new DataView(this.exports.memory.buffer, this.next, 8);
    if (kind === "d") view.setFloat64(0, value, true);
    else view.setBigInt64(0, BigInt(value), true);
    this.next += 8;
  }

  /** Copy the arrays back; returns the results. */
  finish(kinds) {
    const { buffer } = this.exports.memory;
    for (const { data, address } of this.arrays) {
      bytes(data).set(new Uint8Array(buffer, address, data.byteLength));
    }
    const view = new DataView(buffer, this.slots);
    return [...kinds].map((kind, k) => {
      if (kind === "d") return view.getFloat64(8 * k, true);
      const integer = Number(view.getBigInt64(8 * k, true));
      return kind === "?" ? integer !== 0 : integer;
    });
  }
}

function bytes(data) {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
