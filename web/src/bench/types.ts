// Made by web/wire_types.py from src/glassformer/lab/documents/bench.py: do not edit.
import type { Diagram } from "../shared/records";
import type { WireNumber } from "../shared/wire";

/** A field of a spec: what it is, and what it may hold. */
export interface FieldRule {
  name: string;
  doc: string;
  kind: "whole" | "number" | "yes_no" | "choice" | "places" | "sizes";
  choices: string[];
  optional: boolean;
  least: number;
  most: number;
}

export type Kind = "encoder" | "decoder" | "encoder-decoder";

export interface Preset {
  name: string;
  doc: string;
  kind: Kind;
}

export interface Fields {
  presets: Preset[];
  fields: FieldRule[];
}

export interface Config {
  spec: string;
  fields: Record<string, unknown>;
}

export interface LedgerLine {
  name: string;
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head";
  kind: string;
  times: number;
  formula: string;
  numbers: string;
  count: WireNumber;
  frozen: boolean;
  also: string[];
}

/** A part of the ledger and what it is made of. */
export interface Slice {
  name: string;
  title: string;
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head" | null;
  count: WireNumber;
  parts: Slice[];
}

/** A block, or a step, which has an equation; `reads` names lines of the ledger. */
export interface Block {
  name: string;
  title: string;
  parameters: WireNumber;
  times: number;
  about: string;
  shape: string;
  left: string;
  right: string;
  reads: string[];
  blocks: Block[];
}

export interface CostRow {
  name: string;
  multiply_adds: WireNumber;
  flops: WireNumber;
}

/** One step of one layer; `times` says in how many layers it stands. */
export interface StepCost extends CostRow {
  parts: string[];
  times: number;
  formula: string | null;
  numbers: string | null;
}

export interface Costs {
  parts: CostRow[];
  steps: StepCost[];
}

export interface Memory {
  weights: WireNumber;
  activations: WireNumber;
  total: WireNumber;
  assumptions: string;
}

export interface Values {
  given: Record<string, unknown>;
  derived: Record<string, unknown>;
}

export interface Derived {
  label: string;
  values: Values;
  batch: number;
  t: number;
  u: number | null;
  longest: number | null;
  reads: "tokens" | "image" | "frames" | "vectors";
  total: WireNumber;
  trainable: WireNumber;
  convention: string;
  multiply_adds: WireNumber;
  flops: WireNumber;
  memory: Memory;
  parts: Record<string, WireNumber>;
  lines: LedgerLine[];
  costs: Costs;
  icicle: Slice;
  blocks: Block[];
  diagram: Diagram;
}

export interface ShapeRow {
  name: string;
  role: "input" | "parameter" | "step";
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head";
  formula: string;
  shape: number[];
  one_head: number[] | null;
  elements: WireNumber;
}

export interface Shapes {
  rows: ShapeRow[];
  left_out: number;
  convention: "rows" | "columns";
}

export interface CostPoint {
  size: number;
  flops: WireNumber;
  parts: Record<string, WireNumber>;
  weights: WireNumber;
  activations: WireNumber;
  training: WireNumber;
}

export interface TrainingCost {
  flops: WireNumber;
  memory: Memory;
}

export interface CostAnswer {
  convention: string;
  multiply_adds: WireNumber;
  flops: WireNumber;
  parts: CostRow[];
  memory: Memory;
  training: TrainingCost;
  along: "length" | "batch";
  points: CostPoint[];
}

export interface Equation {
  number: number;
  name: string;
  left: string;
  right: string;
  shape: string;
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head";
}

export interface EquationSection {
  title: string;
  equations: Equation[];
}

export interface Equations {
  sections: EquationSection[];
  convention: "rows" | "columns";
}

export interface Side {
  count: WireNumber;
  formula: string | null;
  numbers: string | null;
}

export interface BridgeRow {
  name: string;
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head";
  left: Side;
  right: Side;
  difference: WireNumber;
}

export interface BridgeEnd {
  label: string;
  total: WireNumber;
}

export interface FieldDifference {
  name: string;
  left: unknown;
  right: unknown;
}

export interface Bridge {
  left: BridgeEnd;
  right: BridgeEnd;
  total: WireNumber;
  unchanged: WireNumber;
  fields: FieldDifference[];
  rows: BridgeRow[];
}

export interface Export {
  name: string;
  text: string;
}
