// A sheet as texts that an address can hold: `k = flying: 1 1; arrows: 0 -1`. The server reads the same texts (pages/by_hand_sheet.py).
import type { Asked } from "./asked";
import type { Example, SheetDocument } from "./types";

export interface Cells {
  cells: string[][];
  labels: string[] | null;
  vector: boolean; // one row without brackets around it
}

const EMPTY = "_"; // a cell with nothing in it yet
const WORDS = /^(pick|identity|diagonal|transpose|fill|attend|hide|add|causal|none)\b|[{[|]/;

/** The rows of a text; null where it is said in words, and stays a text. */
export function toCells(text: string): Cells | null {
  if (WORDS.test(text.trim())) return null;
  const lines = text.split(/[;\n]/).map((line) => line.trim());
  const rows = lines.filter((line) => line !== "");
  const named = rows.length > 0 && rows.every((line) => line.includes(":"));
  const cells = rows.map((line) =>
    (named ? line.slice(line.lastIndexOf(":") + 1) : line)
      .trim()
      .split(/[\s,]+/)
      .map((cell) => (cell === EMPTY ? "" : cell)),
  );
  return { cells: cells.length ? cells : [[""]], labels: named ? rows.map((line) => line.slice(0, line.lastIndexOf(":")).trim()) : null, vector: lines.length === 1 && !named };
}

export function toText({ cells, labels, vector }: Cells): string {
  const columns = Math.max(1, ...cells.map((row) => row.length));
  const rows = cells.map((row) => Array.from({ length: columns }, (_, place) => (row[place] ?? "").replace(/[\s;:,|]/g, "") || EMPTY).join(" "));
  if (labels) return rows.map((row, place) => `${(labels[place] ?? "").replace(/[;:|\n]/g, "").trim() || `row ${place + 1}`}: ${row}`).join("; ");
  return rows.length === 1 ? (vector ? rows[0]! : `${rows[0]};`) : rows.join("; ");
}

/** Rows that came from elsewhere: a first column of words names them; `before` says what stood there. */
export function placed(name: string, cells: string[][], before: Cells): Cells {
  const word = /^[^\d\s.+\-−√_][^\d]*$/;
  if (cells.every((row) => row.length > 1 && word.test(row[0]!) && !/^-?(inf|∞)/i.test(row[0]!))) {
    return { cells: cells.map((row) => row.slice(1)), labels: cells.map((row) => row[0]!), vector: false };
  }
  const labels = before.labels && cells.map((_, place) => before.labels![place] ?? `row ${place + 1}`);
  return { cells, labels, vector: cells.length === 1 && (before.vector || name[0] === name[0]!.toLowerCase()) };
}

/** What a kind of problem starts with on an empty sheet. */
const STARTS: Record<string, Pick<SheetDocument, "given" | "choices">> = {
  attention: { given: { q: "0 0", k: "0 0; 0 0", v: "0 0; 0 0" }, choices: {} },
  encoder_layer: {
    given: { X: "1 0; 0 1", W_Q: "1 0; 0 1", W_K: "1 0; 0 1", W_V: "1 0; 0 1", W_O: "1 0; 0 1", "ffn.W_1": "1 0; 0 1", "ffn.W_2": "1 0; 0 1" },
    choices: {},
  },
  softmax: { given: { x: "1 2 3" }, choices: {} },
  layer_norm: { given: { x: "1 2 3" }, choices: {} },
  rms_norm: { given: { x: "1 2 3" }, choices: {} },
  ffn: { given: { x: "1 2", W_1: "1 0; 0 1", W_2: "1 0; 0 1" }, choices: {} },
  activation: { given: { x: "-1 0 1" }, choices: { activation: "relu" } },
  positions: { given: {}, choices: { positions: "3", d_model: "4" } },
  rotary: { given: { x: "1 0 1 0" }, choices: { positions: "1" } },
  linear: { given: { x: "1 2", W: "1 0; 0 1" }, choices: {} },
  product: { given: { A: "1 2; 3 4", B: "1; 1" }, choices: {} },
};

export function emptySheet(kind: string): Example {
  const start = STARTS[kind] ?? STARTS.attention!;
  return { name: "empty", about: "", kind, title: "", ...start };
}

type Texts = Record<string, string>;

/** The texts of an example with those of the address put over them; one without a text is taken away. */
export function overlaid(base: Texts, changes: string[]): Texts {
  const found = { ...base };
  for (const change of changes) {
    const at = change.indexOf("=");
    if (at < 1) continue;
    const [name, text] = [change.slice(0, at).trim(), change.slice(at + 1).trim()];
    if (text) found[name] = text;
    else delete found[name];
  }
  return found;
}

/** What the address must hold so that `base` becomes `wanted`. */
export function difference(base: Texts, wanted: Texts): string[] {
  const changed = Object.entries(wanted).filter(([name, text]) => base[name] !== text).map(([name, text]) => `${name}=${text}`);
  return [...changed, ...Object.keys(base).filter((name) => !(name in wanted)).map((name) => `${name}=`)];
}

export function askedBy(query: URLSearchParams, base: Example): Asked {
  const whole = (key: string) => (/^\d{1,2}$/.test(query.get(key) ?? "") ? Number(query.get(key)) : null);
  return {
    title: query.get("title") ?? base.title,
    kind: base.kind,
    given: overlaid(base.given, query.getAll("given")),
    choices: overlaid(base.choices, query.getAll("set")),
    digits: whole("digits") ?? 4,
    rounded: whole("rounded"),
  };
}
