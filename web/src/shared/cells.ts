// Made by web/wire_types.py from src/glassformer/lab/documents/cells.py: do not edit.
import type { WireNumber } from "./wire";

export interface Door {
  id: string;
  text: string;
  label: string;
  value: WireNumber;
}

export type Piece = string | Door;

export interface Term {
  value: WireNumber;
  parts: Piece[];
}

export interface Rest {
  terms: number;
  sum: WireNumber;
}

/** What is done with the terms: nothing but the sum, the sum over something, or one term's share of the sum. */
export interface How {
  kind: "given" | "sum" | "single" | "divided" | "share";
  sum?: WireNumber;
  by?: WireNumber;
  text?: string;
  own?: WireNumber;
}

export type Source = "step" | "parameter" | "input" | "edit";

export interface OpenedNumber {
  id: string;
  label: string;
  value: WireNumber;
  source: Source;
  latex: string;
  numbers: Piece[];
  how: How;
  terms: Term[];
  rest: Rest;
}
