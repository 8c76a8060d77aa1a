import { expect, test } from "vitest";
import { fits, opened, sittingOf, withAnswer, withOpen } from "./sitting";

test("answers travel in the address with the hints they took, whatever they contain", () => {
  const did = withAnswer(withAnswer([], "layer", 1, "41,984"), "order", 0, "a~b");
  expect(sittingOf(did)).toEqual({ answers: { layer: "41,984", order: "a~b" }, hints: { layer: 1, order: 0 } });
  expect(sittingOf(withAnswer(did, "layer", 2, "")).answers.layer).toBe("");
  expect(sittingOf(["nonsense", "x~y~z"])).toEqual({ answers: {}, hints: {} });
});

test("a line opens to its hint, then to its answer, then closes", () => {
  expect(opened(withOpen([], 8, "hint"), 8)).toBe("hint");
  expect(opened(withOpen(["8", "5"], 8, "answer"), 8)).toBe("answer");
  expect(withOpen(["8!", "5"], 8, "")).toEqual(["5"]);
});

test("a text that is too long for an address is known to be", () => {
  expect(fits("é".repeat(1000))).toBe(true);
  expect(fits("é".repeat(2000))).toBe(false);
});
