// What the server says on the trace page.
import type { WireNumber } from "../shared/wire";

export type Axis = [string, number];

export interface Step {
  name: string;
  layer: number | "after" | null;
  part: string;
  axes: Axis[];
  latex?: string; // what went in has no rule
  kept?: boolean;
  entering?: boolean; // what enters a layer: it belongs to what comes before
}

export interface Opened {
  label: string;
  about: string;
  parameters: number;
  reads: "tokens" | "vectors" | "image";
  text: string;
  tokens: string[];
  before_tokens: string[];
  t: number;
  layers: number;
  heads: number;
  whole: boolean;
  steps: Step[];
  output: {
    name: string;
    axes: Axis[];
    classes: { name: string; place: number; probability: number; before: number }[];
    tags: { name: string; probability: number; before: string }[];
  };
  examples: string[];
  labels: string[];
  edits: string[];
  moved: Record<string, WireNumber>;
  image?: { grid: [number, number]; patch: [number, number]; before: number };
}

export interface Models {
  models: { name: string; title: string; made: string }[];
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

export interface Page {
  name: string;
  rows: Side;
  columns: Side;
  fixed: Record<string, number>;
  least: number;
  largest: number;
  window: number;
}

export type Piece = string | { id: string; text: string; label: string; value: WireNumber };

export interface CellDocument {
  id: string;
  name: string;
  part: string;
  label: string;
  value: WireNumber;
  before: WireNumber | null;
  source: "step" | "parameter" | "input" | "edit";
  was: WireNumber | null; // before it was set by hand
  rule: string;
  latex: string;
  numbers: Piece[];
  copy: string;
  how: { kind: "given" | "sum" | "single" | "divided" | "share"; sum?: WireNumber; by?: WireNumber; text?: string; own?: WireNumber };
  terms: { value: WireNumber; parts: Piece[] }[];
  rest: { terms: number; sum: WireNumber };
  heads: WireNumber[];
}

/** What the address says: sent with every question. */
export interface Where {
  model: string;
  spec: string;
  seed: number;
  text: string;
  image: string;
  edits: string[];
  layer: number;
}
