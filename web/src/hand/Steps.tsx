// The work as on paper: the rule, the numbers put in, the result; every number is a door.
import { useState } from "preact/hooks";
import { Door } from "../shared/Door";
import { Math as Formula } from "../shared/Math";
import { change, useParam } from "../shared/place";
import { Pieces } from "../trace/Arithmetic";
import { claimOf, judged, numberIn } from "./attempt";
import { Exports } from "./Exports";
import type { Asked } from "./asked";
import type { GridDocument, Misfit, PageDocument, StepDocument, Worked } from "./types";

const MOST_OPEN = 9; // lines of arithmetic that stand open; more are behind a click

export function Steps({ worked, asked, name }: { worked: Worked; asked: Asked; name: string }) {
  const { page, fault } = worked;
  const [trying, setTrying] = useParam("try");
  const [typed, setTyped] = useState<Typed>({});
  const [shown, show] = useState<string[]>([]); // steps that were given up, or are done
  const attempt = (step: string): Attempt | null =>
    trying && !shown.includes(step) ? { typed, type: (id, text) => setTyped((before) => ({ ...before, [id]: text })), show: () => show([...shown, step]) } : null;
  const start = () => {
    setTyped({});
    show([]);
    setTrying(trying ? "" : "yes");
    if (!trying) change({ at: null });
  };
  return (
    <section class="hand-steps" aria-label="steps">
      {page && (
        <>
          <div class="hand-heading">
            <h2>{page.title}</h2>
            {!fault && (
              <span class="hand-do">
                <button type="button" aria-pressed={Boolean(trying)} onClick={start}>
                  {trying ? "show all results" : "let me try"}
                </button>
                {!trying && <Exports asked={asked} page={page} name={name} />}
              </span>
            )}
          </div>
          {trying ? <Score page={page} typed={typed} /> : <p class="note">{page.carried} Click a number to see how it is computed.</p>}
          <ol class="hand-list">
            {page.steps.map((step, place) => (
              <Step step={step} number={place + 1} page={page} asked={asked} name={name} exports={!fault && !trying} attempt={attempt(step.name)} key={step.name} />
            ))}
          </ol>
        </>
      )}
      {fault && <Misfits message={fault.message} misfit={fault.misfit} number={(page?.steps.length ?? 0) + 1} />}
      {!trying && page?.notes.map((note) => <p class="note">{note}</p>)}
      {!trying && page?.tables.map((table) => (
        <div class="wide">
          <h3>{table.title}</h3>
          <table class="rows hand-table">
            <thead>
              <tr>
                {table.columns.map((column) => (
                  <th scope="col">{column}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row) => (
                <tr>
                  {row.map((cell) => (
                    <td>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ))}
    </section>
  );
}

type Typed = Record<string, string>; // the address of a cell -> what was typed for it

interface Attempt {
  typed: Typed;
  type: (id: string, text: string) => void;
  show: () => void; // the step as the sheet has it
}

interface StepProps {
  step: StepDocument;
  number: number;
  page: PageDocument;
  asked: Asked;
  name: string;
  exports: boolean;
  attempt: Attempt | null; // null: the values stand there
}

/** How many cells of the sheet are right so far. */
function Score({ page, typed }: { page: PageDocument; typed: Typed }) {
  const cells = page.steps.flatMap((step) => step.grids.flatMap((grid) => grid.cells.flat()));
  const right = cells.filter(([text, id]) => judged(typed[id] ?? "", text)).length;
  return (
    <p role="status" class="hand-score">
      The values are hidden: type your own; each is marked as you type. {right} of {cells.length} right. Two decimals are enough.
    </p>
  );
}

function Step({ step, number, page, asked, name, exports, attempt }: StepProps) {
  const lines = (
    <ul class="hand-lines">
      {step.lines.map((line, place) => (
        <li key={place}>
          <span class="hand-label">{line.label}</span> = <Pieces pieces={line.parts} />
          {line.then.map((text) => ` = ${text}`)}
          {line.result !== null && (
            <>
              {" "}
              <span class="hand-result">
                {`${line.sign} `}
                <Door id={line.id} label={`${line.label}: ${line.result}`}>
                  {line.result}
                </Door>
              </span>
            </>
          )}
          <span class="soft">{line.exactly}</span>
        </li>
      ))}
      {step.left_out > 0 && <li class="note">… and {step.left_out} more in the same way; click any number below.</li>}
    </ul>
  );
  return (
    <li class="hand-step" data-step={step.name}>
      <div class="hand-rule">
        <h3>
          <span class="hand-number">{number}</span>
          <span class="unseen">{step.name}</span>
          <span class="wide">
            <Formula latex={step.latex} />
          </span>
          {step.sizes && <span class="note hand-sizes">{step.sizes}</span>}
        </h3>
        {exports && <Exports asked={asked} page={page} step={step.name} name={name} />}
      </div>
      {attempt ? null : step.lines.length > MOST_OPEN ? (
        <details class="hand-more">
          <summary>arithmetic for {step.lines.length} numbers</summary>
          {lines}
        </details>
      ) : (
        step.lines.length > 0 && lines
      )}
      <div class="hand-grids">
        {step.grids
          .filter((grid) => attempt || !alone(grid) || step.lines.length !== 1) // one number stands in its line already
          .map((grid) => (
            <Bracketed symbol={step.symbol} name={step.name} grid={grid} attempt={attempt} />
          ))}
      </div>
      {attempt && <Help step={step} attempt={attempt} />}
    </li>
  );
}

/** What can be done about a step that is being tried: see it, or, where a whole matrix is there and wrong, learn which mistake it is. */
function Help({ step, attempt }: { step: StepDocument; attempt: Attempt }) {
  const grid = step.grids.length === 1 ? step.grids[0] : undefined;
  const rows = grid?.cells.map((row) => row.map(([, id]) => attempt.typed[id] ?? ""));
  const full = rows?.every((row) => row.every((text) => numberIn(text) !== null)) ?? false;
  const wrong = grid?.cells.some((row) => row.some(([text, id]) => judged(attempt.typed[id] ?? "", text) === false)) ?? false;
  return (
    <p class="hand-help">
      <button type="button" class="quiet" aria-label={`show this step: ${step.name}`} onClick={attempt.show}>
        show this step
      </button>
      {full && wrong && (
        <button type="button" class="quiet" aria-label={`what went wrong? (${step.name})`} onClick={() => change({ claim: claimOf(step.name, rows!) })}>
          what went wrong?
        </button>
      )}
    </p>
  );
}

const alone = (grid: GridDocument): boolean => grid.cells.length === 1 && grid.cells[0]!.length === 1 && !grid.rows.length && !grid.columns.length;

/** `name = matrix`, with the names of its rows and columns; each number a door. */
export function Bracketed({ symbol, name, grid, attempt }: { symbol: string; name: string; grid: GridDocument; attempt: Attempt | null }) {
  const label = (row: number, column: number) =>
    [grid.rows[row] ?? (grid.cells.length > 1 ? row + 1 : null), grid.columns[column] ?? (grid.cells[0]!.length > 1 ? column + 1 : null)].filter((word) => word !== null).join(", ");
  return (
    <div class="hand-equation">
      <span class="hand-symbol">
        <Formula latex={symbol} />
        {grid.sheet && <span class="note"> ({grid.sheet})</span>} =
      </span>
      <div class="wide">
        <table class="hand-matrix" aria-label={`${name}${grid.sheet ? `, ${grid.sheet}` : ""}`}>
          {grid.columns.length > 0 && (
            <thead>
              <tr>
                {grid.rows.length > 0 && <td />}
                {grid.columns.map((word) => (
                  <th scope="col">{word}</th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {grid.cells.map((row, number) => (
              <tr key={number}>
                {grid.rows.length > 0 && <th scope="row">{grid.rows[number]}</th>}
                {row.map(([text, id], column) => (
                  <td key={id}>
                    {attempt ? (
                      <Try text={text} typed={attempt.typed[id] ?? ""} label={`${name}[${label(number, column)}]`} type={(own) => attempt.type(id, own)} />
                    ) : (
                      <Door id={id} label={`${name}[${label(number, column)}]: ${text}`}>
                        {text}
                      </Door>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** A cell to fill in, marked as soon as a number stands in it. */
function Try({ text, typed, label, type }: { text: string; typed: string; label: string; type: (typed: string) => void }) {
  const right = judged(typed, text);
  return (
    <span class="hand-try">
      <input inputMode="decimal" autocomplete="off" spellcheck={false} aria-label={label} aria-invalid={right === false || undefined} value={typed} onInput={(event) => type(event.currentTarget.value)} />
      <span class={right ? "right" : "wrong"} role="img" aria-label={right === null ? undefined : right ? "right" : "wrong"} aria-hidden={right === null}>
        {right === null ? "" : right ? "✓" : "✗"}
      </span>
    </span>
  );
}

/** The product that does not fit, where it would stand: both shapes, the two sizes that must meet marked. */
function Misfits({ message, misfit, number }: { message: string; misfit: Misfit | null; number: number }) {
  return (
    <div class="hand-misfit" role="alert">
      <h3>
        <span class="hand-number">{number}</span>
        {misfit ? `${misfit.product} does not fit` : "This cannot be computed"}
      </h3>
      {misfit && <Shapes misfit={misfit} />}
      <p>{message}</p>
    </div>
  );
}

export function inOrder(misfit: Misfit): { name: string; size: string[]; inner: number }[] {
  const sides = [
    { name: misfit.left, size: misfit.left_size.split(" × ") },
    { name: misfit.right, size: misfit.right_size.split(" × ") },
  ];
  const at = (name: string) => misfit.product.split(/\s+/).findIndex((word) => word.replace("ᵀ", "") === name);
  if (at(sides[0]!.name) > at(sides[1]!.name)) sides.reverse();
  const turned = (name: string) => misfit.product.includes(`${name}ᵀ`);
  return sides.map((side, place) => ({ ...side, inner: (place === 0) !== turned(side.name) ? side.size.length - 1 : 0 }));
}

function Shapes({ misfit }: { misfit: Misfit }) {
  return (
    <p class="hand-shapes">
      {inOrder(misfit).map((side, place) => (
        <>
          {place > 0 && <span class="hand-times">·</span>}
          <span class="hand-shape">
            <span class="mono">{side.name}</span>{" "}
            {side.size.map((part, where) => (
              <>
                {where > 0 && " × "}
                <span class={where === side.inner ? "hand-clash" : ""}>{part}</span>
              </>
            ))}
          </span>
        </>
      ))}
    </p>
  );
}
