// A matrix as a heat map on a canvas: reached with the keyboard, opened with a click or Enter, with its scale beside it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { colourOf, css, inkOn, scaleFor, type Scale } from "./colours";
import { digits, full } from "./format";
import { theme } from "./theme";

export const MOST_SIDE = 128; // rows or columns that are drawn; the rest is chosen by a range, and a sentence says so

interface GridProps {
  title: string;
  rows: number;
  columns: number;
  values: ArrayLike<number>; // row after row
  kind: Scale["kind"];
  scale?: Scale; // to share one among several grids
  rowLabels?: string[];
  columnLabels?: string[];
  rowName?: string; // what a row is: "query", "token"
  columnName?: string;
  onOpen?: (row: number, column: number) => void;
  selected?: [number, number];
  markedRow?: number; // a row that is looked at
}

interface Layout {
  cell: number;
  left: number;
  top: number;
  right: number;
  numbers: boolean;
}

const TALL = 0.45; // of a screen's height: a grid of a few dozen rows is no taller, so that it is seen whole

function layoutOf(rows: number, columns: number, width: number, labels: string[] | undefined): Layout {
  const left = labels ? 88 : 0;
  const longest = Math.max(0, ...(labels ?? []).map((word) => Math.min(12, [...word].length)));
  const top = labels ? 16 + Math.round(4.8 * longest) : 0; // words stand aslant
  const right = top > 0 ? Math.max(0, top - 28) : 0; // where the last word leans out
  const low = Math.max(28, Math.floor((TALL * innerHeight - top) / Math.max(1, rows)));
  const cell = Math.max(4, Math.min(44, low, Math.floor((width - left - right - 2) / Math.max(1, columns))));
  return { cell, left, top, right, numbers: cell >= 28 };
}

export function Grid(props: GridProps) {
  const { title, kind, rowLabels, columnLabels, onOpen, selected, rowName = "row", columnName = "column" } = props;
  const rows = Math.min(props.rows, MOST_SIDE);
  const columns = Math.min(props.columns, MOST_SIDE);
  const at = (row: number, column: number) => props.values[row * props.columns + column] ?? NaN;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [focus, setFocus] = useState<[number, number] | null>(null);
  const scale = props.scale ?? scaleFor(props.values, kind);
  const layout = layoutOf(rows, columns, width || 320, columnLabels ?? (rowLabels && []));
  const dark = theme.value;

  useLayoutEffect(() => {
    const node = frame.current;
    if (!node) return;
    setWidth(node.clientWidth);
    const watch = new ResizeObserver(() => setWidth(node.clientWidth));
    watch.observe(node);
    return () => watch.disconnect();
  }, []);

  useLayoutEffect(() => {
    const node = canvas.current;
    const pen = node?.getContext("2d");
    if (!node || !pen) return;
    const { cell, left, top } = layout;
    const dots = globalThis.devicePixelRatio || 1;
    const [w, h] = [left + columns * cell + 1 + layout.right, top + rows * cell + 1];
    node.width = w * dots;
    node.height = h * dots;
    node.style.width = `${w}px`;
    node.style.height = `${h}px`;
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, w, h);
    const style = getComputedStyle(node);
    const ink = style.getPropertyValue("--ink").trim() || "#111";
    const font = (size: number) => `${size}px ${style.fontFamily || "sans-serif"}`;
    pen.font = font(layout.cell < 36 ? 10.5 : 12);
    pen.textBaseline = "middle";
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const colour = colourOf(at(row, column), scale, dark);
        pen.fillStyle = css(colour);
        pen.fillRect(left + column * cell, top + row * cell, cell - (cell > 8 ? 1 : 0), cell - (cell > 8 ? 1 : 0));
        if (layout.numbers) {
          pen.fillStyle = inkOn(colour);
          pen.textAlign = "center";
          pen.fillText(inCell(at(row, column)), left + (column + 0.5) * cell, top + (row + 0.5) * cell, cell - 3);
        }
      }
    }
    pen.font = font(12);
    if (cell >= 11) {
      pen.fillStyle = ink;
      pen.textAlign = "right";
      rowLabels?.slice(0, rows).forEach((word, row) => pen.fillText(cut(word, 12), left - 6, top + (row + 0.5) * cell));
      pen.textAlign = "left";
      columnLabels?.slice(0, columns).forEach((word, column) => {
        pen.save();
        pen.translate(left + (column + 0.5) * cell, top - 6);
        pen.rotate(-Math.PI / 4);
        pen.fillText(cut(word, 12), 0, 0);
        pen.restore();
      });
    }
    if (props.markedRow !== undefined && props.markedRow < rows) {
      pen.strokeStyle = ink;
      pen.lineWidth = 1;
      pen.strokeRect(left - 0.5, top + props.markedRow * cell - 0.5, columns * cell, cell);
    }
    for (const [mark, colour] of [[selected, style.getPropertyValue("--accent").trim()], [focus, ink]] as const) {
      if (!mark || !colour) continue;
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.strokeRect(left + mark[1] * cell + 0.5, top + mark[0] * cell + 0.5, cell - 1, cell - 1);
    }
  });

  const said = (row: number, column: number) =>
    `${rowName} ${rowLabels?.[row] ?? row}, ${columnName} ${columnLabels?.[column] ?? column}: ${full(at(row, column))}`;
  const cellAt = (event: MouseEvent): [number, number] | null => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - layout.left) / layout.cell);
    const row = Math.floor((event.clientY - box.top - layout.top) / layout.cell);
    return row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null;
  };
  const move = (event: KeyboardEvent) => {
    const [row, column] = focus ?? selected ?? [0, 0];
    const next: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, columns - 1],
    };
    const to = next[event.key];
    if (to) {
      event.preventDefault();
      setFocus([Math.min(rows - 1, Math.max(0, to[0])), Math.min(columns - 1, Math.max(0, to[1]))]);
    } else if ((event.key === "Enter" || event.key === " ") && onOpen) {
      event.preventDefault();
      onOpen(row, column);
    }
  };
  const capped = props.rows > rows || props.columns > columns;
  return (
    <figure class="grid">
      <figcaption>{title}</figcaption>
      <div ref={frame} class="grid-frame">
        <canvas
          ref={canvas}
          role={onOpen ? "application" : "img"}
          aria-roledescription="grid of numbers"
          aria-label={`${title}, ${props.rows} × ${props.columns}${onOpen ? "; arrow keys move, Enter opens" : ""}`}
          tabIndex={onOpen ? 0 : undefined}
          class={onOpen ? "can-open" : ""}
          onKeyDown={onOpen && move}
          onFocus={onOpen && (() => setFocus((before) => before ?? selected ?? [0, 0]))}
          onBlur={() => setFocus(null)}
          onMouseMove={(event) => {
            const cell = cellAt(event);
            canvas.current!.title = cell ? said(...cell) : "";
          }}
          onClick={(event) => {
            const cell = cellAt(event);
            if (cell) onOpen?.(...cell);
          }}
        />
      </div>
      <span class="unseen" aria-live="polite">
        {focus ? said(...focus) : ""}
      </span>
      <Legend scale={scale} />
      {capped && (
        <p class="note">
          Showing {rows} of {props.rows} rows and {columns} of {props.columns} columns; choose a range.
        </p>
      )}
    </figure>
  );
}

/** The scale, always shown: its two ends and its middle. */
export function Legend({ scale }: { scale: Scale }) {
  const dark = theme.value;
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => css(colourOf(scale.low + share * (scale.high - scale.low), scale, dark)));
  return (
    <div class="legend" role="img" aria-label={`scale from ${digits(scale.low)} to ${digits(scale.high)}`}>
      <span>{digits(scale.low)}</span>
      <span class="legend-bar" style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} />
      <span>{digits(scale.high)}</span>
    </div>
  );
}

/** A number in few letters, for a small cell: two decimals, or two digits where it is large; 0 only where it is 0. */
export function inCell(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || value === 0 || size >= 100) return digits(value, 2);
  if (size < 0.005) return value < 0 ? "−.00" : ".00";
  return value.toFixed(size < 10 ? 2 : 1).replace("-", "−").replace(/^(−?)0\./, "$1.");
}

const cut = (word: string, most: number): string => ([...word].length > most ? `${[...word].slice(0, most - 1).join("")}…` : word);
