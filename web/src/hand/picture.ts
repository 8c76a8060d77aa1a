// The page, or one step of it, as a PNG: drawn here on a canvas, in dark ink on white paper, at twice the size.
import type { GridDocument, PageDocument, StepDocument } from "./types";

const FONT = '15px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const [LINE, MARGIN, GAP] = [24, 28, 14];
const WIDEST = 1000;

interface Placed {
  width: number;
  height: number;
  draw: (x: number, y: number) => void;
}

export function drawn(page: PageDocument, only?: string): Promise<Blob> {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d")!;
  pen.font = FONT;
  const steps = page.steps.filter((step) => only === undefined || step.name === only);
  const blocks: Placed[] = [text(pen, page.title, "600")];
  if (only === undefined && page.given.length) {
    blocks.push(text(pen, "Given", "600"));
    blocks.push(...flow(page.given.flatMap((item) => (item.words ? [text(pen, `${item.name}: ${item.words}`)] : item.grids.map((grid) => matrix(pen, item.name, grid))))));
  }
  for (const step of steps) blocks.push(...ofStep(pen, step, page.steps.indexOf(step) + 1));
  for (const note of page.notes) if (only === undefined) blocks.push(text(pen, note));
  const width = Math.max(...blocks.map((block) => block.width)) + 2 * MARGIN;
  const height = blocks.reduce((sum, block) => sum + block.height, 2 * MARGIN);
  const scale = Math.min(2, 16_000 / Math.max(width, height)); // canvases have a largest side
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, width, height);
  let y = MARGIN;
  for (const block of blocks) {
    block.draw(MARGIN, y);
    y += block.height;
  }
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png"));
}

function ofStep(pen: CanvasRenderingContext2D, step: StepDocument, number: number): Placed[] {
  const heading = text(pen, `${number}. ${step.rule}${step.sizes ? `    ${step.sizes}` : ""}`, "600", GAP);
  const lines = step.lines.map((line) => {
    const middle = [line.parts.map((part) => (typeof part === "string" ? part : part.text)).join(""), ...line.then].join(" = ");
    return text(pen, `${line.label} = ${middle}${line.result === null ? "" : ` ${line.sign} ${line.result}`}${line.exactly}`);
  });
  if (step.left_out) lines.push(text(pen, `… and ${step.left_out} more in the same way`));
  return [heading, ...lines, ...flow(step.grids.map((grid) => matrix(pen, step.name, grid)))];
}

function text(pen: CanvasRenderingContext2D, words: string, weight = "400", above = 0): Placed {
  const font = `${weight} ${FONT}`;
  pen.font = font;
  return {
    width: pen.measureText(words).width,
    height: LINE + above,
    draw: (x, y) => {
      Object.assign(pen, { font, fillStyle: "#16191d", textAlign: "left", textBaseline: "middle" });
      pen.fillText(words, x, y + above + LINE / 2);
    },
  };
}

/** Blocks beside each other as far as the page is wide. */
function flow(blocks: Placed[]): Placed[] {
  const rows: Placed[][] = [];
  let width = Infinity;
  for (const block of blocks) {
    if (width + block.width > WIDEST) rows.push([]), (width = 0);
    rows[rows.length - 1]!.push(block);
    width += block.width + 32;
  }
  return rows.map((row) => ({
    width: row.reduce((sum, block) => sum + block.width + 32, -32),
    height: Math.max(...row.map((block) => block.height)),
    draw: (x, y) => row.reduce((at, block) => (block.draw(at, y), at + block.width + 32), x),
  }));
}

function matrix(pen: CanvasRenderingContext2D, name: string, grid: GridDocument): Placed {
  pen.font = FONT;
  const wide = (words: string) => pen.measureText(words).width;
  const label = `${name}${grid.sheet ? ` (${grid.sheet})` : ""} =`;
  const columns = grid.cells[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, place) => Math.max(wide(grid.columns[place] ?? ""), ...grid.cells.map((row) => wide(row[place]![0]))) + 18);
  const names = Math.max(0, ...grid.rows.map(wide)) + (grid.rows.length ? 8 : 0);
  const [top, left] = [grid.columns.length ? LINE : 0, wide(label) + 10 + names];
  const [inner, tall] = [widths.reduce((sum, width) => sum + width, 0), grid.cells.length * LINE];
  return {
    width: left + inner + 8,
    height: top + tall + 12,
    draw: (x, y) => {
      Object.assign(pen, { font: FONT, fillStyle: "#16191d", strokeStyle: "#16191d", lineWidth: 1.2, textAlign: "left", textBaseline: "middle" });
      pen.fillText(label, x, y + 6 + top + tall / 2);
      const [from, to, above, below] = [x + left, x + left + inner + 4, y + 6 + top, y + 6 + top + tall];
      for (const [side, inward] of [[from, 5], [to, -5]] as const) {
        pen.beginPath();
        pen.moveTo(side + inward, above);
        pen.lineTo(side, above);
        pen.lineTo(side, below);
        pen.lineTo(side + inward, below);
        pen.stroke();
      }
      grid.cells.forEach((row, number) => {
        const middle = above + (number + 0.5) * LINE;
        if (grid.rows[number]) (pen.textAlign = "right"), (pen.fillStyle = "#565d66"), pen.fillText(grid.rows[number], from - 8, middle);
        pen.textAlign = "right";
        pen.fillStyle = "#16191d";
        row.reduce((at, [cell], place) => (pen.fillText(cell, at + widths[place]! - 7, middle), at + widths[place]!), from);
      });
      pen.fillStyle = "#565d66";
      grid.columns.reduce((at, word, place) => (pen.fillText(word, at + widths[place]! - 7, above - LINE / 2), at + widths[place]!), from);
    },
  };
}
