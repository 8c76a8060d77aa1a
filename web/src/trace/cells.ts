// How cells and changes are written in the address: layers.0.attention.scores[head=0,t=1,s=2], drop:0.1, mask:3, swap:0,3.
import type { Piece } from "../shared/cells";
import { isWeights, layerOf, parsePart, partOf } from "./parts";
import type { Opened, Page, Step } from "./types";

export type Cell = Record<string, number>;

export function cellId(name: string, cell: Cell): string {
  const inside = Object.entries(cell).filter(([axis, place]) => axis !== "" && (axis !== "batch" || place));
  return `${name}[${inside.map(([axis, place]) => `${axis}=${place}`).join(",")}]`;
}

export function parseCell(id: string): { name: string; cell: Cell } | null {
  const found = /^([\w.]+)\[([\w=,]*)\]$/.exec(id);
  if (!found) return null;
  const pairs = found[2]!.split(",").filter(Boolean).map((pair) => pair.split("=") as [string, string]);
  return { name: found[1]!, cell: Object.fromEntries(pairs.map(([axis, place]) => [axis, Number(place)])) };
}

/** The ledger of a cell, by what wrote it (`why:CELL`) or by word (`words:CELL`), or one of its lines (`why:CELL#7`). */
export function parseLedger(id: string): { kind: "why" | "words"; cell: string; line?: number } | null {
  const found = /^(why|words):([^#]+)(?:#(\d+))?$/.exec(id);
  return found && { kind: found[1] as "why" | "words", cell: found[2]!, ...(found[3] !== undefined && { line: Number(found[3]) }) };
}

/** The cell of a page that stands in a row and a column of its window. */
export function cellOfPage(page: Page, row: number, column: number): string {
  const cell: Cell = { ...page.fixed, [page.rows.axis]: page.rows.start + row, [page.columns.axis]: page.columns.start + column };
  return cellId(page.name, cell);
}

/** Where a cell stands in a window, or undefined where it is elsewhere. */
export function placeInPage(page: Page, id: string | undefined): [number, number] | undefined {
  const found = id === undefined ? null : parseCell(id);
  if (!found || found.name !== page.name) return undefined;
  if (Object.entries(page.fixed).some(([axis, place]) => (found.cell[axis] ?? 0) !== place)) return undefined;
  const place = ([page.rows, page.columns] as const).map((side) => (side.axis === "" ? 0 : (found.cell[side.axis] ?? 0) - side.start));
  return place.every((at, side) => at >= 0 && at < Math.min(page.window, [page.rows, page.columns][side]!.size)) ? (place as [number, number]) : undefined;
}

/** A cell in few words, for the trail: weights [head 0, Who, Tom]. */
export function brief(id: string, words: (name: string, axis: string) => string[]): string {
  const ledger = parseLedger(id);
  if (ledger) return ledger.line === undefined ? `What made ${brief(ledger.cell, words)}` : `line ${ledger.line}`;
  const found = parseCell(id);
  if (!found) return id;
  const places = Object.entries(found.cell)
    .filter(([axis]) => axis !== "batch")
    .map(([axis, place]) => words(found.name, axis)[place] ?? `${axis} ${place}`);
  return `${stepTitle(found.name)} [${places.join(", ")}]`;
}

/** The word of each term, where the terms run along words: of `exp(score)`, the word whose score it is. */
export function wordsOfTerms(terms: Piece[][], words: (name: string, axis: string) => string[]): (string | undefined)[] {
  const cells = terms.map((parts) => parts.flatMap((part) => (typeof part === "string" ? [] : (parseCell(part.id) ?? []))).at(-1));
  const first = cells[0];
  if (!first || cells.length < 2) return terms.map(() => undefined);
  const axis = Object.keys(first.cell).find((one) => words(first.name, one).length > 0 && new Set(cells.map((cell) => cell?.cell[one])).size === cells.length);
  return cells.map((cell) => (axis === undefined || !cell ? undefined : words(cell.name, axis)[cell.cell[axis]!]));
}

/** The name inside its layer, without the word that says attention: `weights`, `norm_1.mean`, `ffn.out`. */
export function stepTitle(name: string): string {
  const inside = inLayer(name).replace(/^(encoder|decoder)\./, "");
  return inside === "attention.out" ? inside : inside.replace(/^(attention|embeddings|head)\./, ""); // a layer has an out of its own
}

/** A name without the layer that it stands in. */
export const inLayer = (name: string): string => name.replace(/^((encoder|decoder)\.)?layers\.\d+\./, "");

/** The same, as the address holds it: it stays when another layer is chosen. */
export const stepKey = (step: Step): string => (typeof step.layer === "number" && !step.entering ? inLayer(step.name) : step.name);

/** The steps of a part of the run: what goes in, a layer, or what comes after. A layer starts with what enters it. */
export function stepsOf(opened: Opened, part: string): Step[] {
  const own = opened.steps.filter((step) => partOf(step) === part);
  const layer = layerOf(part);
  if (layer === undefined) return own;
  const { stack } = parsePart(part);
  const before = layer === 0 ? "x" : `layers.${layer - 1}.out`;
  const entering = opened.steps.find((step) => step.name === (stack ? `${stack}.${before}` : before));
  return entering ? [{ ...entering, entering: true }, ...own] : own;
}

export function chosenStep(steps: Step[], key: string): Step | undefined {
  return (
    steps.find((step) => stepKey(step) === key || step.name === key) ??
    steps.filter((step) => isWeights(step.name)).at(-1) ?? // of a decoder that reads an encoder, cross-attention
    steps.find((step) => step.name === "x") ??
    steps[steps.length - 1]
  );
}

/** The token that asks: the first word of a question, the class token of an image, or the first word that is a word. */
export function firstQuery(opened: Opened): number {
  if (opened.reads === "image") return 0;
  const stop = opened.tokens.indexOf(".");
  if (stop >= 0 && stop + 2 < opened.tokens.length) return stop + 1;
  return opened.tokens.length > 2 && /^[[<]/.test(opened.tokens[0]!) ? 1 : 0;
}

/** The keys with the most weight, largest first. */
export function strongest(weights: ArrayLike<number>, most: number): number[] {
  return Array.from({ length: weights.length }, (_, place) => place)
    .sort((a, b) => weights[b]! - weights[a]!)
    .slice(0, most);
}

/** The changes with one more: a number that was changed before is changed anew. */
export function withEdit(edits: string[], edit: string): string[] {
  const target = edit.includes("[") ? edit.slice(0, edit.lastIndexOf("=") + 1) : edit;
  return [...edits.filter((other) => other !== edit && !(edit.includes("[") && other.startsWith(target))), edit];
}

export const toggled = (edits: string[], edit: string): string[] => (edits.includes(edit) ? edits.filter((other) => other !== edit) : [...edits, edit]);

/** Brackets and signs that touch a number stay on its line: runs of what must not be broken, and texts that may be. */
export function unbroken(pieces: Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let carried = ""; // what the number before took from the text after it, in letters
  pieces.forEach((piece, place) => {
    if (typeof piece !== "string") {
      const [before, after] = [pieces[place - 1], pieces[place + 1]];
      const head = typeof before === "string" ? (/\S*$/.exec(before)?.[0] ?? "") : "";
      const tail = typeof after === "string" && /\s/.test(after) ? (/^\S*/.exec(after)?.[0] ?? "") : typeof after === "string" && place + 2 >= pieces.length ? after : "";
      groups.push([head, piece, tail].filter((part) => part !== ""));
      carried = tail;
      return;
    }
    let text = piece.slice(carried.length);
    carried = "";
    if (pieces[place + 1] !== undefined) text = text.slice(0, text.length - (/\S*$/.exec(text)?.[0].length ?? 0));
    if (text !== "") groups.push([text]);
  });
  return groups;
}
