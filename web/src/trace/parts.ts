// Parts of a run: the inputs, a layer, what comes after; of an encoder-decoder those of each stack. The address holds them as
// `in`, `0`, `after`, `encoder.in`, `decoder.0`, `after`.
import type { Opened, Step } from "./types";

export type Part = { stack: string; at: string };

export const parsePart = (text: string): Part => {
  const dot = text.indexOf(".");
  return dot < 0 ? { stack: "", at: text } : { stack: text.slice(0, dot), at: text.slice(dot + 1) };
};

export const partName = (stack: string, at: string | number): string => (stack ? `${stack}.${at}` : String(at));

export const partOf = (step: Step): string => partName(step.stack, step.layer ?? "in");

/** The number of a layer, or undefined for a part that is none. */
export const layerOf = (part: string): number | undefined => {
  const { at } = parsePart(part);
  return /^\d{1,5}$/.test(at) ? Number(at) : undefined;
};

/** The part that an address means, or the first layer: of a decoder that reads an encoder, its own. */
export function partOr(opened: Opened, asked: string | null): string {
  const known = new Set(opened.steps.map(partOf));
  if (asked !== null && known.has(asked)) return asked;
  const last = opened.stacks.at(-1)!;
  return last.layers ? partName(last.name, 0) : partName(last.name, "in");
}

export const crosses = (name: string): boolean => /(^|\.)cross\./.test(name);

export const isWeights = (name: string): boolean => name.endsWith("attention.weights") || name.endsWith("cross.weights");

/** The words along an axis of a tensor; none where it counts no tokens. */
export function wordsAlong(opened: Opened, name: string, axis: string, seen = "after"): string[] {
  const [source, target] = seen === "before" ? [opened.before_tokens, opened.before_target] : [opened.tokens, opened.target];
  if (axis === "class") return opened.labels;
  if (axis === "u") return target;
  if (axis === "s") return opened.steps.find((step) => step.name === name)?.keys === "target" ? target : source;
  return axis === "t" || axis === "patch" ? source : [];
}

/** Whose tokens ask in a part: those of the target in a decoder beside an encoder, else the only ones. */
export const asksTarget = (opened: Opened, part: string): boolean => opened.stacks.length > 1 && parsePart(part).stack !== "encoder";

export const asking = (opened: Opened, part: string): string[] => (asksTarget(opened, part) ? opened.target : opened.tokens);

/** The change that ablates a head: `drop:0.1`, `drop:decoder.0.cross.1`. */
export const dropOf = (part: string, name: string, head: number): string => `drop:${part}${crosses(name) ? ".cross" : ""}.${head}`;
