// What travels between the lab's server and this page; the other side is src/glassformer/lab/wire.py.

/** A number as JSON holds it: NaN, infinities, and whole numbers past 2^53, are texts. */
export type WireNumber = number | string;

export function toNumber(value: WireNumber | null | undefined): number {
  if (typeof value === "number") return value;
  if (value === null || value === undefined || value.trim() === "") return NaN;
  return Number(value); // "NaN", "Infinity", "-Infinity" and digits are what Number reads
}

export interface FloatArray {
  shape: number[];
  data: Float32Array;
}

export interface Arrays<Header = Record<string, unknown>> {
  header: Header;
  arrays: Record<string, FloatArray>;
}

interface Listed {
  name: string;
  dtype: "float32" | "float16";
  shape: number[];
  offset: number;
}

const MAGIC = "GLF1";

/** Reads one binary message: header and arrays. */
export function unpack<Header = Record<string, unknown>>(buffer: ArrayBuffer): Arrays<Header> {
  const start = new TextDecoder().decode(new Uint8Array(buffer, 0, Math.min(4, buffer.byteLength)));
  if (start !== MAGIC) throw new Error("the lab's response is not an array");
  const length = new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as Header & { arrays: Listed[] };
  const arrays: Record<string, FloatArray> = {};
  for (const { name, dtype, shape, offset } of header.arrays) {
    const size = shape.reduce((product, side) => product * side, 1);
    arrays[name] = { shape, data: floats(buffer, 8 + length + offset, size, dtype) };
  }
  return { header, arrays };
}

function floats(buffer: ArrayBuffer, at: number, size: number, dtype: Listed["dtype"]): Float32Array {
  const little = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  if (dtype === "float32" && little) return new Float32Array(buffer, at, size);
  const view = new DataView(buffer, at);
  const read = dtype === "float32" ? (i: number) => view.getFloat32(4 * i, true) : (i: number) => half(view.getUint16(2 * i, true));
  return Float32Array.from({ length: size }, (_, i) => read(i));
}

/** The value of a 16-bit float. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
