import { expect, test } from "vitest";
import { claimOf, judged, numberIn } from "./attempt";

test("a rounded right number is right, and one that says too little is not", () => {
  for (const typed of ["0.8808", "0.881", "0.88", ".88"]) expect(judged(typed, "0.8808"), typed).toBe(true);
  for (const typed of ["1", "0.9", "0.87", "0.8801", "-0.88"]) expect(judged(typed, "0.8808"), typed).toBe(false);
  expect(judged("1/3", "0.3333")).toBe(true);
  expect(judged("-0.7071", "−0.7071")).toBe(true);
  expect(["2", "2.0", "2.1", "3"].map((typed) => judged(typed, "2"))).toEqual([true, true, false, false]);
});

test("nothing is said of what is no number yet", () => {
  for (const typed of ["", "-", "0.", "1/", "abc", "1/0"]) if (numberIn(typed) === null) expect(judged(typed, "0.5")).toBe(null);
  expect(judged("−∞", "−∞")).toBe(true);
  expect(claimOf("weights", [["0.88", "−0.12"], ["1", "2"]])).toBe("weights = 0.88 -0.12; 1 2");
});
