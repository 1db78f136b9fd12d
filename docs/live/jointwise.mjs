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
 * @typedef {Record<string, [string, string]>} Formats Types of arguments and of results, by name.
 * @typedef {object} Memory What `jointwise.wasm` exports beside the entry points.
 * @property {WebAssembly.Memory} memory
 * @property {() => number} mark
 * @property {(marked: number) => void} release
 * @property {(size: number) => number} allocate
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
 * @param {Formats} formats The content of `jointwise.json`.
 * @returns {Promise<Kernels>}
 */
export async function load(wasm, formats) {
  const { instance } = await WebAssembly.instantiate(wasm, {});
  return new Kernels(instance.exports, formats);
}

/** Entry points of jointwise; `formats` lists them with the types of arguments and results. */
export class Kernels {
  /**
   * @param {WebAssembly.Exports} exports
   * @param {Formats} formats
   */
  constructor(exports, formats) {
    /** @private */
    this.entries = /** @type {Record<string, (slots: number) => number>} */ (exports);
    /** @private */
    this.memory = /** @type {Memory} */ (/** @type {unknown} */ (exports));
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
    const marked = this.memory.mark();
    try {
      const call = new Call(this.memory);
      const rest = values.reduce((left, value) => call.read(value, left), format);
      if (rest) throw new TypeError(`${name}: arguments are missing, ${values.length} given`);
      const status = this.entries[`jointwise_${name}_${call.weights}`](call.slots);
      if (status) throw new RangeError("memory ran out");
      return call.finish(results);
    } finally {
      this.memory.release(marked);
    }
  }
}

/** The slots of one call: arguments in memory of WebAssembly. */
class Call {
  /** @param {Memory} memory */
  constructor(memory) {
    this.memory = memory;
    this.slots = this.allocate(8 * SLOTS);
    this.next = this.slots + 8 * RESULTS;
    this.weights = 0;
    /** @type {{data: Numbers, address: number}[]} */
    this.arrays = [];
  }

  /** @param {number} size */
  allocate(size) {
    const address = this.memory.allocate(size);
    if (!address) throw new RangeError("memory ran out");
    return address;
  }

  /**
   * Fill the slots of one argument; returns the rest of the format.
   * @param {Argument} value
   * @param {string} format
   * @returns {string}
   */
  read(value, format) {
    const kind = format[0];
    if (kind === "(") {
      const fields = /** @type {Argument[]} */ (value);
      return fields.reduce((left, field) => this.read(field, left), format.slice(1)).slice(1);
    }
    if (kind === "w") {
      const weights = /** @type {number[]} */ (value);
      this.weights = weights.length;
      weights.forEach((each) => this.put("d", each));
      return format.slice(1);
    }
    if (/\d/.test(format[1] ?? "")) {
      this.readArray(/** @type {NumberArray} */ (value), Number(format[1]));
      return format.slice(2);
    }
    this.put(kind, /** @type {number | boolean} */ (value));
    return format.slice(1);
  }

  /**
   * @param {NumberArray} value
   * @param {number} axes
   */
  readArray({ data, shape }, axes) {
    if (shape.length !== axes) throw new TypeError(`${shape.length} axes: expected ${axes}`);
    const address = this.allocate(data.byteLength);
    new Uint8Array(this.memory.memory.buffer, address).set(bytes(data));
    this.arrays.push({ data, address });
    [address, ...shape].forEach((each) => this.put("i", each));
  }

  /**
   * @param {string} kind
   * @param {number | boolean} value
   */
  put(kind, value) {
    const view = new DataView(this.memory.memory.buffer, this.next, 8);
    if (kind === "d") view.setFloat64(0, Number(value), true);
    else view.setBigInt64(0, BigInt(value), true);
    this.next += 8;
  }

  /**
   * Copy the arrays back; returns the results.
   * @param {string} kinds
   */
  finish(kinds) {
    const { buffer } = this.memory.memory;
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

/** @param {Numbers} data */
function bytes(data) {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
