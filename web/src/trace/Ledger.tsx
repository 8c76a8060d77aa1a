// What made a number: its contributions by part and layer, each line open down to the cells that it sums over.
import { useAnswer } from "../shared/api";
import { Door } from "../shared/Door";
import { digits, full } from "../shared/format";
import { Shown } from "../shared/States";
import { toNumber, type WireNumber } from "../shared/wire";
import { parseLedger } from "./cells";
import type { LedgerDocument, LedgerGroup, LineDocument } from "./types";
import type { Where } from "./where";

export function LedgerPanel({ id, where }: { id: string; where: Where }) {
  const line = parseLedger(id)?.line !== undefined;
  const answer = useAnswer<LedgerDocument | LineDocument>("/api/trace/ledger", { ...where, ledger: id });
  if (answer.value && "groups" in answer.value === line) return null; // the answer to what was open before
  return <Shown answer={answer}>{(found) => ("groups" in found ? <Ledger found={found} key={found.id} /> : <Line found={found} key={found.id} />)}</Shown>;
}

const largest = (values: WireNumber[]): number => Math.max(...values.map((value) => Math.abs(toNumber(value))), 0) || 1;

function Bar({ value, most }: { value: WireNumber; most: number }) {
  const number = toNumber(value);
  return <span class={number < 0 ? "bar negative" : "bar"} aria-hidden="true" style={{ width: `${(100 * Math.abs(number)) / most}%` }} />;
}

function Ledger({ found }: { found: LedgerDocument }) {
  const { cell, kind } = parseLedger(found.id)!;
  const most = largest(found.groups.map((group) => group.value));
  return (
    <div class="ledger" data-ledger={found.id}>
      <p class="cell-label note">{found.label}</p>
      <p class="big-number cell-value">
        <Door id={cell} value={found.value} label={`${digits(found.value)}: its formula`} />
      </p>
      <p>
        is the sum of these contributions,{" "}
        {kind === "why" ? (
          <>
            by what wrote them (<Door id={`words:${cell}`}>by word instead</Door>)
          </>
        ) : (
          <>
            followed down to the words (<Door id={`why:${cell}`}>by head and block instead</Door>)
          </>
        )}
        :
      </p>
      {found.groups.map((group) => (
        <Group group={group} most={most} />
      ))}
      <table class="terms ledger-sums">
        <tbody>
          <Sum name="sum of contributions" value={found.total} />
          {toNumber(found.remainder) !== 0 && <Sum name="remainder" value={found.remainder} />}
          <Sum name="difference from the number (rounding)" value={found.gap} />
        </tbody>
      </table>
      <p class="note">Rules: {found.rules}.</p>
    </div>
  );
}

function Sum({ name, value }: { name: string; value: WireNumber }) {
  return (
    <tr>
      <td>{name}</td>
      <td class="number" title={full(value)}>
        {digits(value)}
      </td>
    </tr>
  );
}

function Group({ group, most }: { group: LedgerGroup; most: number }) {
  const own = largest(group.lines.map((line) => line.value));
  return (
    <details class="ledger-group">
      <summary>
        <span>{group.name}</span>
        <span class="ledger-bar">
          <Bar value={group.value} most={most} />
        </span>
        <span class="number" title={full(group.value)}>
          {digits(group.value)}
        </span>
      </summary>
      <table class="terms">
        <tbody>
          {group.lines.map((line) => (
            <tr>
              <td>{line.name}</td>
              <td class="term-bar">
                <Bar value={line.value} most={own} />
              </td>
              <td class="number">
                <Door id={line.id} value={line.value} label={`${digits(line.value)}: ${line.name}`} />
              </td>
            </tr>
          ))}
          {group.rest.terms > 0 && (
            <tr>
              <td class="note">sum of the other {group.rest.terms}</td>
              <td />
              <td class="number">{digits(group.rest.sum)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </details>
  );
}

const CONSTANTS: Record<NonNullable<LineDocument["constant"]>, string> = {
  "uniform attention": "What equal attention to all positions would give: the part of a softmax that does not depend on the scores.",
  bias: "The constant part of this step: what it gives for an input of 0.",
  remainder: "What the rule for activations does not distribute.",
};

function Line({ found }: { found: LineDocument }) {
  const most = largest(found.terms.map((term) => term.value));
  const count = found.terms.length + found.rest.terms;
  return (
    <div class="ledger" data-line={found.id}>
      <p class="cell-label note">{found.name}</p>
      <p class="big-number cell-value" title={full(found.value)}>
        {digits(found.value)}
      </p>
      {found.constant !== null ? (
        <p>{CONSTANTS[found.constant]}</p>
      ) : (
        <>
          <p>
            {count === 1 ? "One term" : `The sum of ${count} terms`}: coefficient · value. The coefficient is how much the number changes with the value under these rules.
          </p>
          <div class="terms-frame">
            <table class="terms">
              <tbody>
                {found.terms.map((term) => (
                  <tr class="term">
                    <td class="number" title={full(term.value)}>
                      {digits(term.value)}
                    </td>
                    <td class="term-bar">
                      <Bar value={term.value} most={most} />
                    </td>
                    <td class="term-parts">
                      <span title={full(term.coefficient)}>{digits(term.coefficient)}</span> · <Door id={term.cell.id} value={term.cell.value} label={`${term.cell.text}: ${term.cell.label}`} />
                    </td>
                  </tr>
                ))}
                {found.rest.terms > 0 && (
                  <tr class="term">
                    <td class="number">{digits(found.rest.sum)}</td>
                    <td />
                    <td class="note">sum of the other {found.rest.terms}</td>
                  </tr>
                )}
              </tbody>
            </table>
          </div>
        </>
      )}
    </div>
  );
}
