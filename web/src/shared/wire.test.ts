import { expect, test } from "vitest";
import { half, toNumber, unpack } from "./wire";

function message(header: object, body: ArrayBuffer): ArrayBuffer {
  let text = JSON.stringify(header);
  while ((8 + text.length) % 8) text += " ";
  const bytes = new Uint8Array(8 + text.length + body.byteLength);
  bytes.set(new TextEncoder().encode("GLF1"));
  new DataView(bytes.buffer).setUint32(4, text.length, true);
  bytes.set(new TextEncoder().encode(text), 8);
  bytes.set(new Uint8Array(body), 8 + text.length);
  return bytes.buffer;
}

test("numbers that JSON has not come as words", () => {
  expect(toNumber("-Infinity")).toBe(-Infinity);
  expect(toNumber("NaN")).toBeNaN();
  expect(toNumber("9007199254740993")).toBe(9007199254740992);
  expect(toNumber(null)).toBeNaN();
  expect(toNumber("")).toBeNaN();
});

test("a float32 array is read in place", () => {
  const sent = new Float32Array([1.5, -Infinity, 3, 4, 5, 6]);
  const { header, arrays } = unpack<{ layer: number }>(message({ layer: 2, arrays: [{ name: "scores", dtype: "float32", shape: [2, 3], offset: 0 }] }, sent.buffer));
  expect(header.layer).toBe(2);
  expect(arrays.scores!.shape).toEqual([2, 3]);
  expect([...arrays.scores!.data]).toEqual([...sent]);
});

test("a float16 array is read, from its offset", () => {
  const sent = new Uint16Array([0, 0, 0, 0, 0x3c00, 0xbc00, 0x7c00, 0x3555]);
  const { arrays } = unpack(message({ arrays: [{ name: "a", dtype: "float16", shape: [4], offset: 8 }] }, sent.buffer));
  expect([...arrays.a!.data]).toEqual([1, -1, Infinity, half(0x3555)]);
  expect(half(0x3555)).toBeCloseTo(1 / 3, 3);
  expect(half(0x0001)).toBe(2 ** -24);
  expect(half(0x7e00)).toBeNaN();
});

test("something else is refused", () => {
  expect(() => unpack(new TextEncoder().encode("<!doctype html>").buffer)).toThrow("not an array");
});
