// What the steps of a run are called in plain words, and what each means in one line. The symbol stands beside the word.
import type { Step } from "./types";
import { stepTitle } from "./cells";

/** The last part of a step's name -> its plain name, and what it is. */
const MEANINGS: Record<string, [string, string]> = {
  x: ["input", "What enters the layer: one vector for each token."],
  q: ["query", "What each token asks the others."],
  k: ["key", "What each token offers to be found by."],
  v: ["value", "What each token passes on to those that attend to it."],
  scores: ["scores", "How well each query fits each key: their dot product, scaled."],
  biased: ["biased scores", "The scores after the mask or a position bias was added."],
  masked: ["masked scores", "The scores, with −∞ where a token must not be looked at."],
  weights: ["weights", "The shares of attention: softmax of the scores, so each row adds to 1."],
  mix: ["mix", "The values, averaged with the weights."],
  "attention.out": ["attention out", "The heads' mixes put side by side and mapped back to the model's width."],
  sum_1: ["add", "The block's result added to what entered it: the residual."],
  sum_2: ["add", "The block's result added to what entered it: the residual."],
  "norm_1.mean": ["mean", "The mean of each token's numbers."],
  "norm_1.variance": ["variance", "How far each token's numbers lie from their mean."],
  "norm_1.normalised": ["normalised", "Each token's numbers, shifted and scaled to mean 0 and variance 1."],
  norm_1: ["norm", "The normalised numbers, each with a learned scale and shift."],
  "ffn.hidden": ["hidden", "Each token by itself, mapped to the feed-forward block's inner width."],
  "ffn.gate": ["gate", "Numbers that decide how much of each hidden number passes."],
  "ffn.active": ["active", "The hidden numbers after the activation function."],
  "ffn.out": ["ffn out", "Mapped back to the model's width."],
  out: ["layer out", "What leaves the layer, and enters the next one."],
  token: ["token vector", "The token's row of the embedding table."],
  position: ["position vector", "The place's row of the position table."],
  segment: ["segment vector", "The segment's row of its table."],
  logits: ["logits", "One number for each class or word; softmax turns them into probabilities."],
};

export interface Meaning {
  plain: string;
  symbol: string; // "" where the plain word is all there is
  says: string;
}

export function meaningOf(step: Step): Meaning {
  const symbol = step.entering ? "x" : stepTitle(step.name);
  const found = MEANINGS[symbol] ?? MEANINGS[symbol.replace("norm_2", "norm_1")] ?? MEANINGS[symbol.split(".").at(-1)!];
  const plain = found?.[0] ?? symbol;
  const short = symbol.length <= 2; // of others the plain word says it
  return { plain, symbol: short && plain !== symbol ? symbol : "", says: found?.[1] ?? "" };
}

const GROUPS: Record<Step["part"], string> = { embedding: "embedding", attention: "attention", norm: "add & norm", "feed-forward": "feed-forward", head: "output" };

/** Steps in a row that belong together: attention, add & norm, feed-forward. */
export function groupsOf(steps: Step[]): { title: string; steps: Step[] }[] {
  const groups: { title: string; steps: Step[] }[] = [];
  for (const step of steps) {
    const title = step.entering ? "input" : step.name.split(".").at(-1)!.startsWith("sum_") ? GROUPS.norm : GROUPS[step.part];
    const last = groups.at(-1);
    if (last?.title === title) last.steps.push(step);
    else groups.push({ title, steps: [step] });
  }
  return groups;
}

/** `[CLS]`, `<s>`, `</s>`: put there by the tokenizer, no word of the text. */
export const isSpecial = (token: string): boolean => /^(\[[A-Z]+\d*\]|<\/?[a-z_]+>|<\|[a-z_]+\|>)$/.test(token);
