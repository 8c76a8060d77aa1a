import { expect, test } from "vitest";
import { colourOf, inkOn, scaleFor } from "./colours";

test("signed values are centred on zero", () => {
  expect(scaleFor([-1, 3], "diverging")).toEqual({ kind: "diverging", low: -3, high: 3 });
  expect(scaleFor([-Infinity, 2, NaN], "diverging")).toEqual({ kind: "diverging", low: -2, high: 2 });
  expect(scaleFor([], "sequential")).toEqual({ kind: "sequential", low: 0, high: 1 });
});

test("zero is the paper's colour, the ends are blue and orange, NaN is neither", () => {
  const scale = scaleFor([-1, 1], "diverging");
  expect(colourOf(0, scale, "light")).toEqual([247, 247, 247]);
  const [low, high] = [colourOf(-1, scale, "light"), colourOf(1, scale, "light")];
  expect(low[2]).toBeGreaterThan(low[0]);
  expect(high[0]).toBeGreaterThan(high[2]);
  expect(colourOf(-Infinity, scale, "light")).toEqual(low);
  expect(colourOf(NaN, scale, "light")).not.toEqual(colourOf(0, scale, "light"));
});

test("the ink can be read", () => {
  expect([inkOn([255, 255, 255]), inkOn([20, 40, 110])]).toEqual(["#111", "#fff"]);
});
