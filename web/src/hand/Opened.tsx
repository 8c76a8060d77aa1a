// One number, opened: what it is, its rule, the rule with numbers, its terms; each opens in turn, down to what was given.
import { useAnswer } from "../shared/api";
import { digits, full } from "../shared/format";
import { Math as Formula } from "../shared/Math";
import { Shown } from "../shared/States";
import { Pieces, Terms } from "../trace/Arithmetic";
import type { Asked } from "./asked";
import type { OpenedCell, PageDocument } from "./types";

export function Opened({ id, asked }: { id: string; asked: Asked }) {
  const answer = useAnswer<OpenedCell>("/api/hand/cell", { ...asked, cell: id });
  return (
    <Shown answer={answer}>
      {(found) => (
        <div class="cell" data-cell={id}>
          <p class="big-number cell-value" data-testid="value" title={full(found.value)}>
            {digits(found.value)}
            {found.exact && <span class="soft"> exactly {found.exact}</span>}
          </p>
          <p class="note full-value">{full(found.value)}</p>
          {found.source === "step" ? (
            <>
              <div class="wide cell-rule" tabIndex={0} role="group" aria-label="formula">
                <Formula latex={found.latex} display />
                {found.sizes && <span class="note">{found.sizes}</span>}
              </div>
              <p class="cell-numbers">
                = <Pieces pieces={found.numbers} />
              </p>
              <Terms found={found} />
              <p class="note hand-line">{found.line}</p>
            </>
          ) : (
            <p class="cell-end">Given: you entered this number.</p>
          )}
        </div>
      )}
    </Shown>
  );
}

/** The names of all cells of a page: `weights[flying]` for `weights[s=0]`. */
export function labels(page: PageDocument | null | undefined): Map<string, string> {
  const found = new Map<string, string>();
  for (const item of page ? [...page.given, ...page.steps] : []) {
    for (const grid of item.grids) {
      grid.cells.forEach((row, number) =>
        row.forEach(([, id], column) => {
          const parts = [grid.sheet, grid.rows[number] ?? (grid.cells.length > 1 ? String(number + 1) : ""), grid.columns[column] ?? (row.length > 1 ? String(column + 1) : "")];
          const inside = parts.filter((part) => part !== "").join(", ");
          found.set(id, inside ? `${item.name}[${inside}]` : item.name);
        }),
      );
    }
  }
  return found;
}
