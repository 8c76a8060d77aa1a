// What the panel shows: a number, its rule, its arithmetic, its terms; each opens in turn. It can be changed, compared and copied.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import { Door } from "../shared/Door";
import { digits, full } from "../shared/format";
import { Math as Formula } from "../shared/Math";
import { Shown } from "../shared/States";
import { toNumber } from "../shared/wire";
import { Pieces, Terms } from "./Arithmetic";
import { cellId, parseCell, withEdit } from "./cells";
import type { CellDocument } from "./types";
import { edits, setEdits, type Where } from "./where";

const END: Partial<Record<CellDocument["source"], string>> = {
  parameter: "A model parameter, learned or generated. It is not computed from other numbers.",
  input: "An input to the model. It is not computed from other numbers.",
};

type Words = (name: string, axis: string) => string[];

export function CellPanel({ id, where, whole, words }: { id: string; where: Where; whole: boolean; words: Words }) {
  const layer = Number(/^(?:\w+\.)?layers\.(\d+)\./.exec(id)?.[1] ?? where.layer);
  const answer = useAnswer<CellDocument>("/api/trace/cell", { ...where, layer: whole ? where.layer : layer, cell: id });
  return <Shown answer={answer}>{(found) => <Opened found={found} whole={whole} words={words} key={found.id} />}</Shown>;
}

function Opened({ found, whole, words }: { found: CellDocument; whole: boolean; words: Words }) {
  return (
    <div class="cell" data-cell={found.id}>
      <p class="cell-label note">{found.label}</p>
      <p class="big-number cell-value" data-testid="value" title={full(found.value)}>
        {digits(found.value)}
        {found.before !== null && <span class="note"> was {digits(found.before)}</span>}
      </p>
      <p class="note full-value">{full(found.value)}</p>
      {found.source === "step" ? (
        <>
          <div class="wide cell-rule" tabIndex={0} role="group" aria-label="formula">
            <Formula latex={found.latex} display />
          </div>
          <p class="cell-numbers">
            = <Pieces pieces={found.numbers} />
          </p>
          <Terms found={found} words={words} />
        </>
      ) : (
        <p class="cell-end">{END[found.source] ?? <Edited found={found} />}</p>
      )}
      <Actions found={found} whole={whole} />
    </div>
  );
}

/** A number that was set is explained by the edit: no arithmetic gives it. */
function Edited({ found }: { found: CellDocument }) {
  const mine = edits().some((edit) => edit.startsWith(`${found.id}=`));
  return (
    <>
      {mine ? "You set this to" : "A change above sets this to"} {digits(found.value)}; without the edit it is {digits(found.was!)}. Every number that depends on it uses {digits(found.value)}.
    </>
  );
}

function Actions({ found, whole }: { found: CellDocument; whole: boolean }) {
  const [open, setOpen] = useState<"change" | "heads" | null>(null);
  const [draft, setDraft] = useState(String(toNumber(found.value)));
  const [copied, setCopied] = useState<"yes" | "no" | null>(null);
  useEffect(() => {
    setDraft(String(toNumber(found.value)));
  }, [found.id, found.value]);
  const place = parseCell(found.id)!;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(found.copy);
      setCopied("yes");
    } catch {
      setCopied("no");
    }
  };
  const number = Number(draft.trim().replace("−", "-"));
  const good = draft.trim() !== "" && Number.isFinite(number);
  return (
    <div class="cell-actions">
      {found.source === "step" && whole && Number.isFinite(toNumber(found.value)) && (
        <p>
          <Door id={`why:${found.id}`}>what made this number, part by part</Door>
        </p>
      )}
      <p>
        <button type="button" aria-expanded={open === "change"} disabled={!whole} onClick={() => setOpen(open === "change" ? null : "change")}>
          change this number
        </button>{" "}
        {found.heads.length > 1 && (
          <>
            <button type="button" aria-expanded={open === "heads"} onClick={() => setOpen(open === "heads" ? null : "heads")}>
              compare with another head
            </button>{" "}
          </>
        )}
        <button type="button" onClick={() => void copy()}>
          {copied === "yes" ? "copied" : "copy as LaTeX"}
        </button>
      </p>
      {!whole && <p class="note">This run is too large to keep in full, so its numbers cannot be changed. Use a shorter text.</p>}
      {open === "change" && (
        <form
          class="change-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (good) setEdits(withEdit(edits(), `${found.id}=${number}`));
          }}
        >
          <label>
            new value <input inputMode="decimal" autocomplete="off" value={draft} aria-invalid={!good || undefined} onInput={(event) => setDraft(event.currentTarget.value)} />
          </label>{" "}
          <button type="submit" class="primary" disabled={!good}>
            set
          </button>
        </form>
      )}
      {open === "heads" && (
        <table class="terms" aria-label="the same cell in every head">
          <tbody>
            {found.heads.map((value, head) => (
              <tr class={place.cell.head === head ? "own-head" : ""}>
                <td>head {head}</td>
                <td class="number">
                  <Door id={cellId(place.name, { ...place.cell, head })} value={value} label={`${digits(value)}: head ${head}`} />
                </td>
                <td class="term-bar" aria-hidden="true">
                  <span
                    class={toNumber(value) < 0 ? "bar negative" : "bar"}
                    style={{ width: `${(100 * Math.abs(toNumber(value))) / (Math.max(...found.heads.map((one) => Math.abs(toNumber(one))).filter(Number.isFinite)) || 1)}%` }}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {copied === "no" && <textarea class="mono" readOnly rows={3} aria-label="LaTeX" value={found.copy} />}
    </div>
  );
}
