// What the steps of a run are called in plain words, and what each means in one line. The symbol stands beside the word.
import type { Step } from "./types";
import { stepTitle } from "./cells";
import { crosses } from "./parts";

/** The last part of a step's name -> its plain name, its symbol ("" where the plain name is all there is), and what it is. */
const MEANINGS: Record<string, [string, string, string]> = {
  x: ["input", "x", "What enters the layer: one vector for each token."],
  q: ["query", "q", "What each token asks the others."],
  k: ["key", "k", "What each token offers to be found by."],
  v: ["value", "v", "What each token passes on to those that attend to it."],
  scores: ["scores", "q·k/√d", "How well each query fits each key: their dot product, scaled."],
  biased: ["biased scores", "+ b", "The scores after the mask or a position bias was added."],
  masked: ["masked scores", "−∞", "The scores, with −∞ where a token must not be looked at."],
  weights: ["weights", "softmax", "The shares of attention: softmax of the scores, so each row adds to 1."],
  mix: ["mix", "Σ w·v", "The values, averaged with the weights."],
  "cross.q": ["query", "q", "What each token of the target asks the source."],
  "cross.k": ["key", "k", "What each token of the source offers to be found by."],
  "cross.v": ["value", "v", "What each token of the source passes on to the target."],
  "cross.out": ["cross out", "W_O", "The heads' mixes put side by side and mapped back to the model's width."],
  "attention.out": ["attention out", "W_O", "The heads' mixes put side by side and mapped back to the model's width."],
  sum_1: ["add", "+", "The block's result added to what entered it: the residual."],
  sum_cross: ["add", "+", "The block's result added to what entered it: the residual."],
  sum_2: ["add", "+", "The block's result added to what entered it: the residual."],
  "norm_1.mean": ["mean", "μ", "The mean of each token's numbers."],
  "norm_1.variance": ["variance", "σ²", "How far each token's numbers lie from their mean."],
  "norm_1.normalised": ["normalised", "(x−μ)/σ", "Each token's numbers, shifted and scaled to mean 0 and variance 1."],
  norm_1: ["norm", "γ, β", "The normalised numbers, each with a learned scale and shift."],
  "ffn.hidden": ["hidden", "W_1", "Each token by itself, mapped to the feed-forward block's inner width."],
  "ffn.gate": ["gate", "", "Numbers that decide how much of each hidden number passes."],
  "ffn.active": ["active", "f", "The hidden numbers after the activation function."],
  "ffn.out": ["ffn out", "W_2", "Mapped back to the model's width."],
  out: ["layer out", "", "What leaves the layer, and enters the next one."],
  token: ["token vector", "E", "The token's row of the embedding table."],
  position: ["position vector", "P", "The place's row of the position table."],
  segment: ["segment vector", "S", "The segment's row of its table."],
  logits: ["logits", "z", "One number for each class or word; softmax turns them into probabilities."],
};

export interface Meaning {
  plain: string;
  symbol: string; // "" where the plain word is all there is
  says: string;
}

export function meaningOf(step: Step): Meaning {
  const name = step.entering ? "x" : stepTitle(step.name);
  const found = MEANINGS[name] ?? MEANINGS[name.replace(/norm_(2|cross)/, "norm_1")] ?? MEANINGS[name.split(".").at(-1)!];
  const [plain, symbol, says] = found ?? [name, "", ""];
  return { plain, symbol, says };
}

const GROUPS: Record<Step["part"], string> = { embedding: "embedding", attention: "attention", norm: "add & norm", "feed-forward": "feed-forward", head: "output" };

/** Steps in a row that belong together: attention, add & norm, feed-forward. */
export function groupsOf(steps: Step[]): { title: string; steps: Step[] }[] {
  const groups: { title: string; steps: Step[] }[] = [];
  for (const step of steps) {
    const own = crosses(step.name) ? "cross-attention" : GROUPS[step.part];
    const title = step.entering ? "input" : step.name.split(".").at(-1)!.startsWith("sum_") ? GROUPS.norm : own;
    const last = groups.at(-1);
    if (last?.title === title) last.steps.push(step);
    else groups.push({ title, steps: [step] });
  }
  return groups;
}

/** `[CLS]`, `<s>`, `</s>`: put there by the tokenizer, no word of the text. */
export const isSpecial = (token: string): boolean => /^(\[[A-Z]+\d*\]|<\/?[a-z_]+>|<\|[a-z_]+\|>)$/.test(token);
