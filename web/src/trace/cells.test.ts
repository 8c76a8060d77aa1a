import { describe, expect, test } from "vitest";
import { brief, cellId, cellOfPage, chosenStep, firstQuery, parseCell, placeInPage, stepKey, stepsOf, strongest, toggled, unbroken, withEdit, wordsOfTerms } from "./cells";
import type { Piece } from "../shared/cells";
import type { Opened, Page, Step } from "./types";

const page: Page = {
  name: "layers.0.attention.weights",
  rows: { axis: "t", size: 100, start: 10 },
  columns: { axis: "s", size: 100, start: 20 },
  fixed: { batch: 0, head: 2 },
  least: 0,
  largest: 1,
  window: 64,
};

describe("cells", () => {
  test("an id reads back as what it was made of", () => {
    const id = cellId("layers.0.attention.weights", { batch: 0, head: 2, t: 1, s: 3 });
    expect(id).toBe("layers.0.attention.weights[head=2,t=1,s=3]");
    expect(parseCell(id)).toEqual({ name: "layers.0.attention.weights", cell: { head: 2, t: 1, s: 3 } });
    expect(parseCell("<b>x</b>")).toBeNull();
  });
  test("a place in a window and its cell are the same thing", () => {
    const id = cellOfPage(page, 5, 7);
    expect(id).toBe("layers.0.attention.weights[head=2,t=15,s=27]");
    expect(placeInPage(page, id)).toEqual([5, 7]);
    expect(placeInPage(page, "layers.0.attention.weights[head=1,t=15,s=27]")).toBeUndefined();
    expect(placeInPage(page, "layers.0.attention.weights[head=2,t=9,s=27]")).toBeUndefined();
    expect(placeInPage(page, undefined)).toBeUndefined();
  });
  test("a page of one row has cells without that axis", () => {
    const one = { ...page, name: "x", rows: { axis: "", size: 1, start: 0 }, columns: { axis: "class", size: 3, start: 0 }, fixed: { batch: 0 } };
    expect(cellOfPage(one, 0, 2)).toBe("x[class=2]");
    expect(placeInPage(one, "x[class=2]")).toEqual([0, 2]);
  });
  test("the trail says words for tokens", () => {
    expect(brief("layers.0.attention.weights[head=2,t=1,s=0]", () => ["Tom", "Who"])).toBe("weights [head 2, Who, Tom]");
  });
});

describe("steps", () => {
  const step = (name: string, layer: Step["layer"]): Step => ({ name, stack: "", layer, part: "attention", axes: [] });
  const opened = { steps: [step("x", null), step("layers.0.attention.weights", 0), step("layers.0.out", 0), step("layers.1.attention.weights", 1), step("layers.1.out", 1), step("head.logits", "after")] } as Opened;
  test("a layer starts with what enters it, and its own out is another step", () => {
    const steps = stepsOf(opened, "1");
    expect(steps.map((one) => one.name)).toEqual(["layers.0.out", "layers.1.attention.weights", "layers.1.out"]);
    expect(steps.map(stepKey)).toEqual(["layers.0.out", "attention.weights", "out"]);
    expect(chosenStep(steps, "out")?.name).toBe("layers.1.out");
    expect(chosenStep(steps, "layers.0.out")?.name).toBe("layers.0.out");
  });
  test("without a choice the weights are shown, or the last step", () => {
    expect(chosenStep(stepsOf(opened, "0"), "")?.name).toBe("layers.0.attention.weights");
    expect(chosenStep(stepsOf(opened, "after"), "nonsense")?.name).toBe("head.logits");
  });
});

test("the token that asks is the first of a question, the class token, or the first word", () => {
  const of = (tokens: string[], reads: Opened["reads"] = "tokens") => firstQuery({ tokens, reads } as Opened);
  expect(of(["Tom", "a", ".", "Who", "was", "?"])).toBe(3);
  expect(of(["[CLS]", "a", "river", ".", "[SEP]"])).toBe(1);
  expect(of(["a", "river"])).toBe(0);
  expect(of(["class", "0,0"], "image")).toBe(0);
});

test("the strongest keys come largest first", () => {
  expect(strongest([0.1, 0.6, 0.3], 2)).toEqual([1, 2]);
});

test("a number that is changed twice is changed once", () => {
  const first = withEdit([], "x[t=0,d_model=1]=2");
  expect(withEdit(withEdit(first, "mask:1"), "x[t=0,d_model=1]=3")).toEqual(["mask:1", "x[t=0,d_model=1]=3"]);
  expect(toggled(["drop:0.1"], "drop:0.1")).toEqual([]);
});

test("terms that run along words bear their words, and others none", () => {
  const score = (s: number): Piece[] => ["exp(", { id: `layers.0.attention.scores[head=1,t=0,s=${s}]`, text: "1", label: "", value: 1 }, ")"];
  const words = (_: string, axis: string) => (axis === "s" || axis === "t" ? ["the", "bank"] : []);
  expect(wordsOfTerms([score(1), score(0)], words)).toEqual(["bank", "the"]);
  const product = (k: number): Piece[] => [{ id: `layers.0.attention.q[t=0,head=1,d_k=${k}]`, text: "1", label: "", value: 1 }];
  expect(wordsOfTerms([product(0), product(1)], words)).toEqual([undefined, undefined]);
});

test("brackets stay with their number, and nothing is lost", () => {
  const door = (text: string): Piece => ({ id: text, text, label: text, value: 1 });
  const said = (pieces: Piece[]) => pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");
  const pieces: Piece[] = ["exp(", door("8.06"), ") / (exp(", door("8.06"), ") + exp(", door("−4.9"), ") + 3 (5 more))"];
  const groups = unbroken(pieces);
  expect(groups.map(said)).toEqual(["exp(8.06)", " / ", "(exp(8.06)", " + ", "exp(−4.9)", " + 3 (5 more))"]);
  expect(groups.map(said).join("")).toBe(said(pieces));
  for (const other of [[door("1"), " · ", door("2")], ["(", door("1"), ")²"], [door("1")], ["((", door("1"), "·", door("2"), ") / √8"]] as Piece[][])
    expect(unbroken(other).map(said).join("")).toBe(said(other));
});
