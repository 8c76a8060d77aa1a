// Where the blocks of the diagram stand: rows of boxes, open ones with rows inside; what goes further than one row runs around at the right.
import type { Block, Derived } from "./types";

export const WIDTH = 400;
const HEADER = 32;
const GAP = 34; // room for an arrow and the shape beside it
const INSET = 12;
const LANE = 12; // room at the right of a column for each line that runs around
const BETWEEN = 8;

export interface Placed {
  key: string;
  block: Block;
  x: number;
  y: number;
  width: number;
  height: number;
  open: boolean;
}

export interface Line {
  path: string;
  x: number;
  y: number;
  shape: string;
  around: boolean;
  enters?: boolean; // what goes into the whole: said above its arrow
}

export interface Picture {
  placed: Placed[];
  lines: Line[];
  height: number;
}

export const HEADER_HEIGHT = HEADER;

/** `t × d_k = 512 × 64, each of 12 heads` on an arrow: `512 × 64 · 12 heads`, or `12 × (512 × 64)` where room is short. */
export function shortShape(shape: string, tight = false): string {
  const [, sizes = shape] = shape.split(" = ");
  return tight ? sizes.replace(/^(.*), each of (\d+) heads$/, "$2 × ($1)") : sizes.replace(/, each of (\d+) heads/, " · $1 heads");
}

const LETTERS = 28; // of the titles of one row, each with its share

/**
 * Neighbours that do not read one another stand side by side: q, k and v; the tables of the embedding. A block that takes
 * something from further back is the last of its row, since that line comes from the right; and titles must fit.
 */
export function rowsOf(blocks: Block[]): Block[][] {
  const rows: Block[][] = [];
  for (const block of blocks) {
    const row = rows[rows.length - 1];
    const reads = row?.some((other) => block.inputs.includes(other.output) || block.blocks.length > 0 || other.blocks.length > 0);
    const behind = row?.some((other) => far(other, rows, rows.length - 1).length > 0);
    const fits = row && [...row, block].every((other) => other.title.length * (row.length + 1) <= LETTERS);
    if (row && !reads && !behind && fits && row.length < 3) row.push(block);
    else rows.push([block]);
  }
  return rows;
}

export function layOut(diagram: Derived["diagram"], opened: Set<string>): Picture {
  const picture: Picture = { placed: [], lines: [], height: 0 };
  const entering = diagram.inputs.map(({ name, axes }) => `${name} [${axes.map(([, size]) => size).join(", ")}]`).join(", ");
  const bottom = column(picture, diagram.blocks, opened, { x: 2, y: GAP, width: WIDTH - 4 }, entering);
  picture.lines.push({ path: "", x: WIDTH / 2, y: 9, shape: entering, around: false, enters: true });
  const last = picture.placed.filter((item) => item.block === diagram.blocks[diagram.blocks.length - 1])[0];
  if (last) picture.lines.push(straight(last.x + last.width / 2, bottom, last.x + last.width / 2, bottom + GAP - 4, shortShape(last.block.shape)));
  picture.height = bottom + GAP;
  return picture;
}

interface Place {
  x: number;
  y: number;
  width: number;
}

/** Puts rows of blocks one under the other, and returns where they end. */
function column(picture: Picture, blocks: Block[], opened: Set<string>, place: Place, entering: string): number {
  const rows = rowsOf(blocks);
  const lanes = [...new Set(rows.flatMap((row, number) => row.flatMap((block) => far(block, rows, number))))];
  const width = place.width - lanes.length * LANE;
  const found = new Map<string, Placed>(); // by what a block gives
  let y = place.y;
  rows.forEach((row, number) => {
    const each = (width - BETWEEN * (row.length - 1)) / row.length;
    const top = number > 0 ? y + GAP : y;
    const items = row.map((block, turn) => {
      const open = opened.has(block.name) && block.blocks.length > 0;
      const item: Placed = { key: `${block.name} ${number} ${turn}`, block, x: place.x + turn * (each + BETWEEN), y: top, width: each, height: HEADER, open };
      picture.placed.push(item);
      if (open) {
        const inside = { x: item.x + INSET, y: top + HEADER + GAP - 8, width: each - 2 * INSET };
        item.height = column(picture, block.blocks, opened, inside, "") + INSET - top;
      }
      return item;
    });
    const before = number > 0 ? rows[number - 1]! : [];
    for (const item of items) {
      const centre = item.x + item.width / 2;
      if (number === 0) picture.lines.push(straight(centre, top - GAP + (entering ? 18 : 12), centre, top, ""));
      for (const above of before.filter((block) => reads(item.block, block))) {
        const from = found.get(above.output)!;
        const [start, end] = before.length > 1 && row.length === 1 ? [from.x + from.width / 2, clamp(from.x + from.width / 2, item)] : [clamp(centre, from), centre];
        picture.lines.push(straight(start, from.y + from.height, end, top, shortShape(above.shape, before.length > 1 || row.length > 1)));
      }
      far(item.block, rows, number).forEach((source) => {
        const lane = place.x + width + LANE * (lanes.indexOf(source) + 1) - 4;
        const from = found.get(source);
        const start = from ? [from.x + from.width / 2, from.y + from.height + 5] : [place.x + width / 2, place.y - GAP / 2];
        picture.lines.push(around(start[0]!, start[1]!, lane, item.y + HEADER / 2, item.x + item.width + 1));
      });
    }
    y = top + Math.max(...items.map((item) => item.height));
    for (const item of items) found.set(item.block.output, item);
  });
  return y;
}

const reads = (block: Block, other: Block): boolean => block.inputs.includes(other.output) || block.inputs.some((name) => name === lastOf(other));

/** Layers that are alike are drawn once: what follows reads the last of them, `layers.11.out`. */
const lastOf = (block: Block): string => (block.last ? `layers.${block.last}.out` : block.output);

/** What a block takes from further back than the row above it: a residual, the values, what a norm is taken of. */
function far(block: Block, rows: Block[][], number: number): string[] {
  if (number === 0) return [];
  const above = rows[number - 1]!;
  const near = new Set(above.flatMap((other) => [other.output, lastOf(other)]));
  const inside = new Set(rows.slice(0, number).flatMap((row) => row.map((other) => other.output)));
  const first = new Set(rows[0]!.flatMap((other) => other.inputs));
  return block.inputs.filter((name) => !near.has(name) && (inside.has(name) || first.has(name)));
}

const clamp = (x: number, item: Placed): number => Math.min(item.x + item.width - 6, Math.max(item.x + 6, x));

const straight = (x: number, from: number, end: number, to: number, shape: string): Line => ({
  path: `M${x} ${from}L${end} ${to}`,
  x: Math.max(x, end),
  y: (from + to) / 2,
  shape,
  around: false,
});

const around = (x: number, y: number, lane: number, to: number, edge: number): Line => ({ path: `M${x} ${y}H${lane}V${to}H${edge}`, x: 0, y: 0, shape: "", around: true });
