// Attention as lines between words: who asks on the left, who is looked at on the right.
import { Door } from "../shared/Door";
import { digits } from "../shared/format";
import { change } from "../shared/place";
import { cellOfPage } from "./cells";
import type { Page } from "./types";

const HEIGHT = 28;
const FAINT = 0.02; // weights below this are not drawn
const STRONG = 0.2;

interface LinesProps {
  page: Page;
  values: ArrayLike<number>;
  rows: string[];
  columns: string[];
  query: number; // which row of the window asks
}

export function Lines({ page, values, rows, columns, query }: LinesProps) {
  const at = (row: number, column: number) => values[row * columns.length + column] ?? NaN;
  const height = HEIGHT * Math.max(rows.length, columns.length);
  const others = rows.flatMap((_, row) => (row === query ? [] : columns.map((_, column) => ({ row, column, weight: at(row, column) }))));
  const line = (row: number, column: number, weight: number, own: boolean) => (
    <line
      key={`${row},${column}`}
      class={own ? "line own" : "line"}
      x1={0}
      x2={100}
      y1={(row + 0.5) * HEIGHT}
      y2={(column + 0.5) * HEIGHT}
      stroke-width={own ? 1 + 5 * weight : 1 + 2 * weight}
      stroke-opacity={own ? 0.25 + 0.75 * weight : 0.3 * weight}
    />
  );
  return (
    <div class="lines" role="group" aria-label="attention as lines">
      <ol class="line-words asks">
        {rows.map((word, row) => (
          <li>
            <button type="button" class="quiet" aria-pressed={row === query} onClick={() => change({ q: String(page.rows.start + row) })}>
              {word}
            </button>
          </li>
        ))}
      </ol>
      <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" style={{ height: `${height}px` }} aria-hidden="true">
        {others.filter(({ weight }) => weight > FAINT).map(({ row, column, weight }) => line(row, column, weight, false))}
        {columns.map((_, column) => at(query, column) > FAINT / 4 && line(query, column, at(query, column), true))}
      </svg>
      <ol class="line-words">
        {columns.map((word, column) => (
          <li>
            <span class={at(query, column) >= STRONG ? "line-word strong" : "line-word"}>
              {word}
            </span>{" "}
            <Door id={cellOfPage(page, query, column)} value={at(query, column)} label={`${rows[query]} to ${word}: ${digits(at(query, column))}`} />
          </li>
        ))}
      </ol>
    </div>
  );
}
