import { expect, test } from "vitest";
import { groupsOf, isSpecial, meaningOf } from "./meanings";
import type { Step } from "./types";

const step = (name: string, part: Step["part"], entering = false): Step => ({ name, stack: "", part, layer: 0, axes: [], entering });

test("the steps of a layer stand in groups, and what enters it by itself", () => {
  const steps = [step("x", "embedding", true), step("layers.0.attention.q", "attention"), step("layers.0.attention.out", "attention"), step("layers.0.sum_1", "norm"), step("layers.0.norm_1", "norm"), step("layers.0.ffn.hidden", "feed-forward")];
  expect(groupsOf(steps).map(({ title, steps: own }) => [title, own.length])).toEqual([["input", 1], ["attention", 2], ["add & norm", 2], ["feed-forward", 1]]);
});

test("a plain word has its symbol beside it, and a step that has none keeps its name", () => {
  expect(meaningOf(step("layers.0.attention.q", "attention"))).toMatchObject({ plain: "query", symbol: "q" });
  expect(meaningOf(step("layers.0.attention.scores", "attention"))).toMatchObject({ plain: "scores", symbol: "q·k/√d" });
  expect(meaningOf(step("layers.0.norm_2.mean", "norm"))).toMatchObject({ plain: "mean", symbol: "μ" });
  expect(meaningOf(step("layers.0.attention.rotated_q", "attention"))).toMatchObject({ plain: "rotated_q", symbol: "", says: "" });
});

test("tokens that a tokenizer adds are special, words are not", () => {
  expect(["[CLS]", "[SEP]", "<s>", "</s>", "[PAD]"].every(isSpecial)).toBe(true);
  expect(["cls", "[", "<", "a>b", "##er", "Who"].some(isSpecial)).toBe(false);
});
