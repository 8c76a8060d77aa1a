// What src/glassformer/lab/pages/bench.py answers.
import type { WireNumber } from "../shared/wire";

export interface FieldRule {
  name: string;
  doc: string;
  kind: "whole" | "number" | "yes_no" | "choice" | "places";
  choices: string[];
  optional: boolean;
  least: number;
  most: number;
}

export interface Preset {
  name: string;
  doc: string;
}

export interface Fields {
  presets: Preset[];
  fields: FieldRule[];
}

export interface Words {
  name: string;
  fields: Record<string, string>;
}

export interface Asked {
  spec: Words;
  convention: string;
}

export interface LedgerLine {
  name: string;
  part: string;
  kind: string;
  times: number;
  formula: string;
  numbers: string;
  count: WireNumber;
  frozen: boolean;
  also: string[];
}

export interface Block {
  name: string;
  output: string;
  title: string;
  part: string;
  parameters: WireNumber;
  shape: string;
  inputs: string[];
  blocks: Block[];
  times?: number;
  last?: number;
  about?: string;
  left?: string;
  right?: string;
}

export interface Derived {
  label: string;
  values: { given: Record<string, unknown>; derived: Record<string, unknown> };
  batch: number;
  t: number;
  longest: number | null;
  reads: "tokens" | "image" | "frames" | "vectors";
  total: WireNumber;
  trainable: WireNumber;
  convention: string;
  multiply_adds: WireNumber;
  flops: WireNumber;
  memory: { weights: WireNumber; activations: WireNumber; total: WireNumber; assumptions: string };
  parts: Record<string, WireNumber>;
  lines: LedgerLine[];
  costs: { parts: CostRow[]; steps: StepCost[] };
  diagram: { inputs: { name: string; axes: [string, number][] }[]; blocks: Block[] };
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

export interface ShapeRow {
  name: string;
  role: "input" | "parameter" | "step";
  part: string;
  formula: string;
  shape: number[];
  matrix: number[];
  one_head: { shape: number[] } | null;
  elements: WireNumber;
}

export interface CostAnswer {
  convention: string;
  multiply_adds: WireNumber;
  flops: WireNumber;
  parts: CostRow[];
  memory: { weights: WireNumber; activations: WireNumber; total: WireNumber; assumptions: string };
  training: { flops: WireNumber; memory: { total: WireNumber; assumptions: string } };
  along: "length" | "batch";
  points: { size: number; flops: WireNumber; parts: Record<string, WireNumber>; weights: WireNumber; activations: WireNumber; training: WireNumber }[];
}

export interface Equations {
  sections: { title: string; equations: { number: number; name: string; left: string; right: string; shape: string; part: string }[] }[];
}

export interface Bridge {
  left: { label: string; total: WireNumber };
  right: { label: string; total: WireNumber };
  total: WireNumber;
  unchanged: WireNumber;
  fields: { name: string; left: unknown; right: unknown }[];
  rows: { name: string; part: string; left: Side; right: Side; difference: WireNumber }[];
}

export interface Side {
  count: WireNumber;
  formula: string | null;
  numbers: string | null;
}
