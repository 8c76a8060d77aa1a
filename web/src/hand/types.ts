// What the server says on the by-hand page.
import type { CellDocument, Piece } from "../trace/types";
import type { WireNumber } from "../shared/wire";

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

export interface KindDocument {
  kind: string;
  matrices: string[];
  choices: { name: string; choices: string[] }[];
}

export interface Examples {
  examples: Example[];
  kinds: KindDocument[];
}

export interface GridDocument {
  sheet: string; // which head, where there are several
  rows: string[];
  columns: string[];
  cells: [string, string][][]; // text and the name of the cell
}

export interface LineDocument {
  id: string;
  label: string;
  parts: Piece[];
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

export interface PageDocument {
  title: string;
  kind: string;
  convention: string;
  carried: string;
  given: GivenDocument[];
  steps: StepDocument[];
  notes: string[];
  tables: { title: string; columns: string[]; rows: string[][] }[];
  names: string[];
}

export interface Misfit {
  product: string;
  left: string;
  left_size: string;
  right: string;
  right_size: string;
}

export interface Worked {
  page: PageDocument | null;
  fault: { message: string; misfit: Misfit | null } | null;
}

export interface OpenedCell extends Pick<CellDocument, "terms" | "rest" | "how" | "value" | "numbers" | "source" | "latex" | "label"> {
  exact: string;
  sizes: string;
  line: string;
}

export interface Judged {
  verdict: string;
  claims: {
    name: string;
    claim: string;
    verdict: "right" | "convention" | "carried" | "wrong";
    convention: string;
    findings: { codes: string[]; names: string[]; sentences: string[]; what: string[]; corrections: { rule: string; numbers: string[] }[] }[];
    follows: string[];
    notes: string[];
  }[];
}

/** What is sent with every question: the sheet, and how many decimals. */
export interface Asked extends Record<string, unknown> {
  title: string;
  kind: string;
  given: Record<string, string>;
  choices: Record<string, string>;
  digits: number;
  rounded: number | null;
}
