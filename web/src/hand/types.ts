// Made by web/wire_types.py from src/glassformer/lab/documents/by_hand.py: do not edit.
import type { Door, OpenedNumber } from "../shared/cells";
import type { WireNumber } from "../shared/wire";

/** A problem as texts: matrices and choices by name. */
export interface SheetDocument {
  kind: string;
  title: string;
  note?: string;
  given: Record<string, string>;
  choices: Record<string, string>;
}

export interface Example extends SheetDocument {
  name: string;
  about: string;
}

export interface Choice {
  name: string;
  choices: string[];
}

export interface KindDocument {
  kind: string;
  matrices: string[];
  choices: Choice[];
}

export interface Examples {
  examples: Example[];
  kinds: KindDocument[];
}

/** A matrix; `sheet` says which head, where there are several. A cell is its text and its name. */
export interface GridDocument {
  sheet: string;
  rows: string[];
  columns: string[];
  cells: [string, string][][];
}

export interface LineDocument {
  id: string;
  label: string;
  parts: (string | Door)[];
  then: string[];
  sign: string;
  result: string | null;
  value: WireNumber;
  exactly: string;
}

export interface StepDocument {
  name: string;
  symbol: string;
  rule: string;
  latex: string;
  sizes: string;
  lines: LineDocument[];
  left_out: number;
  grids: GridDocument[];
}

export interface GivenDocument {
  name: string;
  latex: string;
  words: string | null;
  grids: GridDocument[];
}

export interface TableDocument {
  title: string;
  columns: string[];
  rows: string[][];
}

export interface PageDocument {
  title: string;
  kind: string;
  convention: "rows" | "columns";
  carried: string;
  given: GivenDocument[];
  steps: StepDocument[];
  notes: string[];
  tables: TableDocument[];
  names: string[];
}

export interface Misfit {
  product: string;
  left: string;
  left_size: string;
  right: string;
  right_size: string;
}

export interface SheetFault {
  message: string;
  misfit: Misfit | null;
}

export interface Worked {
  page: PageDocument | null;
  fault: SheetFault | null;
}

export interface OpenedCell extends OpenedNumber {
  exact: string;
  sizes: string;
  line: string;
}

export interface Correction {
  name: string;
  rule: string;
  numbers: string[];
  value: unknown;
}

export interface ClaimFinding {
  codes: string[];
  names: string[];
  sentences: string[];
  what: string[];
  left_out: string[];
  layout: string;
  value: unknown;
  near: boolean;
  corrections: Correction[];
}

export interface Claim {
  name: string;
  claim: string;
  verdict: "right" | "convention" | "carried" | "wrong" | "unclear";
  right: boolean;
  truth: unknown;
  convention: string;
  findings: ClaimFinding[];
  follows: string[];
  notes: string[];
}

export interface Judged {
  title: string;
  verdict: string;
  right: boolean;
  claims: Claim[];
}

export interface Export {
  text: string;
}
