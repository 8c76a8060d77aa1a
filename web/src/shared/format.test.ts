import { expect, test } from "vitest";
import { brief, bytes, count, digits, full, share } from "./format";

test("a count has its thousands, and stays exact when it came as digits", () => {
  expect(count(109482240)).toBe("109,482,240");
  expect(count("123456789012345678901")).toBe("123,456,789,012,345,678,901");
  expect(count(-1536)).toBe("−1,536");
});

test("four significant digits", () => {
  expect([0.41271, 2, -0.70710678, 1234.5678, 0, 1 / 3].map((x) => digits(x))).toEqual(["0.4127", "2", "−0.7071", "1235", "0", "0.3333"]);
  expect(digits(0.5)).toBe("0.5");
  expect(digits(0.1 + 0.2)).toBe("0.3");
  expect([1.0000001, 0.999998, 0.49999999].map((x) => digits(x))).toEqual(["1.000", "1.000", "0.5000"]);
  expect(digits(100000)).toBe("100,000");
  expect(digits(12345678)).toBe("1.235 · 10⁷");
  expect(digits(-0.0000123)).toBe("−1.23 · 10⁻⁵");
  expect(["NaN", "-Infinity", "Infinity"].map((x) => digits(x))).toEqual(["NaN", "−∞", "∞"]);
});

test("all the digits, for the panel", () => {
  expect(full(0.1 + 0.2)).toBe("0.30000000000000004");
  expect(full(23440896)).toBe("23,440,896");
});

test("sizes at a glance", () => {
  expect([23837184, 590592, 97090169344].map(brief)).toEqual(["23.84 M", "590,592", "97.09 G"]);
  expect([437928960, 512, 2048].map(bytes)).toEqual(["437.9 MB", "512 B", "2.048 kB"]);
  expect([share(1, 3), share(1, 1e6), share(1, 0)]).toEqual(["33.3%", "< 0.1%", "–"]);
});
