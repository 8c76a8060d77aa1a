import { expect, test } from "vitest";
import { runsOf, titled } from "./set";

test("formulas are set, and a mark inside one marks the whole of it", () => {
  const runs = runsOf([["so $3 \\times ", ""], ["512", "wrong"], ["$ and ", ""], ["7", "right"], [" costs \\$5", ""]]);
  expect(runs.map(({ text, math, verdict }) => [text, math, verdict])).toEqual([
    ["so ", "no", ""],
    ["3 \\times 512", "inline", "wrong"],
    [" and ", "no", ""],
    ["7", "no", "right"],
    [" costs \\$5", "no", ""],
  ]);
  expect(runsOf([["$$x$$", ""]])).toEqual([{ text: "x", math: "display", verdict: "" }]);
  expect(runsOf([["5 $ and no more", ""]])).toEqual([{ text: "5 $ and no more", math: "no", verdict: "" }]);
});

test("an id is shown as a title", () => expect(titled("two_scores")).toBe("Two scores"));
