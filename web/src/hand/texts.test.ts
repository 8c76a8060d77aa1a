import { expect, test } from "vitest";
import { askedBy, difference, emptySheet, overlaid, placed, toCells, toText } from "./texts";

test("rows, names and vectors come back as they went", () => {
  for (const text of ["0 1", "1 2; 3 4", "1 2;", "flying: 1 1; arrows: 0 -1", "1/√2 _"]) expect(toText(toCells(text)!)).toBe(text);
  expect(toCells("1/√2 _")).toEqual({ cells: [["1/√2", ""]], labels: null, vector: true });
});

test("what is said in words stays a text", () => {
  for (const text of ["pick 1 2", "identity", "causal", "1 2 | 3 4", "[[1]]"]) expect(toCells(text)).toBeNull();
});

test("what would break the address is left out of a cell and of a name", () => {
  expect(toText({ cells: [["1;2", "3:4"]], labels: ["a:b;c"], vector: false })).toBe("abc: 12 34");
});

test("a pasted first column of words names the rows, and numbers do not", () => {
  const before = toCells("0 0; 0 0")!;
  expect(placed("k", [["flying", "1", "1"], ["arrows", "0", "-1"]], before)).toEqual({ cells: [["1", "1"], ["0", "-1"]], labels: ["flying", "arrows"], vector: false });
  expect(placed("k", [["-1", "1"], ["√2", "0"]], before).labels).toBeNull();
  expect(placed("q", [["1", "2"]], before).vector).toBe(true);
  expect(placed("W_Q", [["1", "2"]], before).vector).toBe(false);
});

test("the address holds only what differs from the example", () => {
  const base = { q: "0 1", k: "1 1" };
  const wanted = { q: "0 2", v: "1" };
  const changes = difference(base, wanted);
  expect(changes).toEqual(["q=0 2", "v=1", "k="]);
  expect(overlaid(base, changes)).toEqual(wanted);
});

test("the address says the decimals, and nonsense is not a number of them", () => {
  const asked = askedBy(new URLSearchParams("digits=6&rounded=x&set=scale=none"), emptySheet("attention"));
  expect([asked.digits, asked.rounded, asked.choices]).toEqual([6, null, { scale: "none" }]);
});
