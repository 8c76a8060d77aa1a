// A small matrix with cells to type in; a whole one can be pasted into any of them.
import { useRef } from "preact/hooks";

interface MatrixProps {
  name: string;
  cells: string[][]; // texts, so that "1/3" or "-" on the way to "-1" can stand
  onChange: (cells: string[][]) => void;
  rowLabels?: string[];
  columnLabels?: string[];
  bad?: (row: number, column: number) => boolean;
  size?: string; // instead of rows × columns
  onRowLabel?: (row: number, text: string) => void; // names of rows can be typed too
  onTranspose?: () => void;
  onDrop?: () => void; // the whole matrix can be taken away
}

/** Rows on lines or between semicolons, cells between spaces, commas, tabs or &; brackets are dropped. */
export function parseMatrix(text: string): string[][] {
  return text
    .replace(/\\\\/g, ";")
    .split(/[;\n]/)
    .map((line) => line.replace(/[[\](){}|]/g, " ").trim())
    .filter((line) => line !== "")
    .map((line) => line.split(/[\s,&]+/).filter((cell) => cell !== ""));
}

export function Matrix({ name, cells, onChange, rowLabels, columnLabels, bad, size, onRowLabel, onTranspose, onDrop }: MatrixProps) {
  const table = useRef<HTMLTableElement>(null);
  const columns = Math.max(1, ...cells.map((row) => row.length));
  const set = (row: number, column: number, text: string) =>
    onChange(cells.map((line, i) => (i === row ? Array.from({ length: columns }, (_, j) => (j === column ? text : (line[j] ?? ""))) : line)));
  const paste = (event: ClipboardEvent) => {
    const pasted = parseMatrix(event.clipboardData?.getData("text") ?? "");
    if (pasted.length < 2 && (pasted[0]?.length ?? 0) < 2) return; // one number goes where the cursor is
    event.preventDefault();
    onChange(pasted);
  };
  const move = (event: KeyboardEvent, row: number, column: number) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    table.current?.querySelector<HTMLInputElement>(`[data-cell="${row + step[0]!},${column + step[1]!}"]`)?.focus();
  };
  return (
    <div class="matrix">
      <span class="matrix-name">
        {name} <span class="soft">{size ?? `${cells.length} × ${columns}`}</span>
      </span>
      <table ref={table} aria-label={`${name}, ${cells.length} × ${columns}`}>
        {columnLabels && (
          <thead>
            <tr>
              {rowLabels && <td />}
              {columnLabels.map((word) => (
                <th scope="col">{word}</th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {cells.map((line, row) => (
            <tr key={row}>
              {rowLabels && (
                <th scope="row">
                  {onRowLabel ? (
                    <input class="row-label" autocomplete="off" spellcheck={false} aria-label={`name of row ${row + 1} of ${name}`} value={rowLabels[row] ?? ""} onInput={(event) => onRowLabel(row, event.currentTarget.value)} />
                  ) : (
                    (rowLabels[row] ?? "")
                  )}
                </th>
              )}
              {Array.from({ length: columns }, (_, column) => (
                <td key={column}>
                  <input
                    inputMode="decimal"
                    autocomplete="off"
                    spellcheck={false}
                    data-cell={`${row},${column}`}
                    aria-label={`${name} row ${row + 1} column ${column + 1}`}
                    aria-invalid={bad?.(row, column) || undefined}
                    value={line[column] ?? ""}
                    onInput={(event) => set(row, column, event.currentTarget.value)}
                    onPaste={paste}
                    onKeyDown={(event) => move(event, row, column)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <span class="matrix-size">
        <span class="soft">rows</span>
        <button type="button" class="quiet" aria-label={`add a row to ${name}`} onClick={() => onChange([...cells, Array<string>(columns).fill("0")])}>
          +
        </button>
        <button type="button" class="quiet" disabled={cells.length < 2} aria-label={`remove the last row of ${name}`} onClick={() => onChange(cells.slice(0, -1))}>
          −
        </button>
        <span class="soft">columns</span>
        <button type="button" class="quiet" aria-label={`add a column to ${name}`} onClick={() => onChange(cells.map((line) => [...line, "0"]))}>
          +
        </button>
        <button type="button" class="quiet" disabled={columns < 2} aria-label={`remove the last column of ${name}`} onClick={() => onChange(cells.map((line) => line.slice(0, columns - 1)))}>
          −
        </button>
        {onTranspose && (
          <button type="button" class="quiet" aria-label={`transpose ${name}`} onClick={onTranspose}>
            transpose
          </button>
        )}
        {onDrop && (
          <button type="button" class="quiet" aria-label={`remove ${name}`} title={`remove ${name}`} onClick={onDrop}>
            ✕
          </button>
        )}
      </span>
    </div>
  );
}
