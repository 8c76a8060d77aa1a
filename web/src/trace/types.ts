// Made by web/wire_types.py from src/glassformer/lab/documents/trace.py: do not edit.
import type { Door, OpenedNumber, Rest } from "../shared/cells";
import type { WireNumber } from "../shared/wire";

export type Axis = [string, number];

/** A tensor of the run. What went in has no rule; what enters a layer belongs to what comes before. */
export interface Step {
  name: string;
  stack: string;
  layer: number | "after" | null;
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head";
  axes: Axis[];
  latex?: string;
  kept?: boolean;
  keys?: "source" | "target";
  entering?: boolean;
}

export interface Class {
  name: string;
  place: number;
  probability: WireNumber;
  before: WireNumber;
}

export interface Tag {
  name: string;
  probability: WireNumber;
  before: string;
}

/** A token that may come next, and whether it is the one that does; `ends`: a text ends with it; `text`: the text with it. */
export interface Next {
  token: string;
  id: number;
  probability: WireNumber;
  before: WireNumber;
  ends: boolean;
  taken: boolean;
  text: string;
}

/** What came out: classes, a tag for each token, or for each position the most probable tokens. */
export interface Output {
  name: string;
  axes: Axis[];
  classes: Class[];
  tags: Tag[];
  next: Next[][];
}

export interface Stack {
  name: string;
  layers: number;
  heads: number;
}

export interface ImageGrid {
  grid: [number, number];
  patch: [number, number];
  before: number;
}

export interface Opened {
  label: string;
  about: string;
  parameters: number;
  reads: "tokens" | "vectors" | "image" | "frames";
  text: string;
  tokens: string[];
  before_tokens: string[];
  target: string[];
  before_target: string[];
  ids: number[];
  predicts_next: boolean;
  t: number;
  layers: number;
  heads: number;
  stacks: Stack[];
  whole: boolean;
  steps: Step[];
  output: Output;
  examples: string[];
  labels: string[];
  edits: string[];
  moved: Record<string, WireNumber>;
  image?: ImageGrid;
}

export interface NamedModel {
  name: string;
  title: string;
  made: string;
}

export interface Models {
  models: NamedModel[];
  first: string;
  random: string;
  digits: number[];
  given: string[];
}

export interface Side {
  axis: string;
  size: number;
  start: number;
}

/** A window of a tensor; its numbers come as an array. */
export interface Page {
  name: string;
  rows: Side;
  columns: Side;
  fixed: Record<string, number>;
  least: WireNumber;
  largest: WireNumber;
  window: number;
}

export interface Heads {
  names: string[];
  all: boolean;
}

/** `before` the changes, where they moved it; `was`: before it was set by hand. */
export interface CellDocument extends OpenedNumber {
  name: string;
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head";
  before: WireNumber | null;
  was: WireNumber | null;
  rule: string;
  copy: string;
  heads: WireNumber[];
}

export interface Hypothesis {
  ids: number[];
  words: string[];
  score: WireNumber;
}

/** A beam search: what was kept after each token, best first, and what was written in the end. */
export interface Beams {
  width: number;
  start: number;
  steps: Hypothesis[][];
  best: Hypothesis;
  ended: boolean;
}

/** One contribution: what it is, and the number. */
export interface LedgerLine {
  id: string;
  name: string;
  value: WireNumber;
}

/** The contributions of one part of a layer, largest first; `rest` sums those that are not listed. */
export interface LedgerGroup {
  name: string;
  value: WireNumber;
  lines: LedgerLine[];
  rest: Rest;
}

/** A number as a sum of contributions: total + remainder = value, up to rounding (`gap`). */
export interface LedgerDocument {
  id: string;
  label: string;
  value: WireNumber;
  total: WireNumber;
  remainder: WireNumber;
  gap: WireNumber;
  rules: string;
  groups: LedgerGroup[];
}

/** Coefficient times a cell, which opens. */
export interface LedgerTerm {
  value: WireNumber;
  coefficient: WireNumber;
  cell: Door;
}

/** A line of a ledger: the cells that it sums over; `constant` where a rule gives it without any. */
export interface LineDocument {
  id: string;
  name: string;
  value: WireNumber;
  constant: "uniform attention" | "bias" | "remainder" | null;
  terms: LedgerTerm[];
  rest: Rest;
}
