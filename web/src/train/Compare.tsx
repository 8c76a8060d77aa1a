// Several runs side by side: what they were trained on, and what came of it.
import { count, digits } from "../shared/format";
import { toNumber } from "../shared/wire";
import { hue, percent, type Watched } from "./Curves";
import { titleOf } from "./Runs";
import type { Options } from "./types";
import { accuracyOf, epochsOf } from "./words";

// A heading, and what it means where that is longer.
const COLUMNS: [string, string?][] = [["run"], ["data"], ["parameters"], ["epochs"], ["lr", "learning rate"], ["loss", "lowest validation loss"], ["validation", "best validation accuracy"], ["test", "test accuracy with the best weights"]];

export function Compare({ runs, options }: { runs: Watched[]; options: Options }) {
  const known = runs.filter(({ row }) => row);
  if (known.length < 2) return null;
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="runs compared">
      <table class="rows compare">
        <caption class="unseen">the chosen runs side by side</caption>
        <thead>
          <tr>
            {COLUMNS.map(([name, meaning], place) => (
              <th scope="col" class={place > 1 ? "number" : undefined} title={meaning}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map(({ name, row, curve }, place) => {
            if (!row) return null;
            const losses = curve.epochs.map((one) => one.validationLoss).filter(Number.isFinite);
            const test = row.test ? toNumber(row.test.accuracy) : NaN;
            return (
              <tr key={name}>
                <th scope="row">
                  <span class="dot" style={{ background: hue(place) }} /> {titleOf(name, options, row)}
                </th>
                <td>{row.data}</td>
                <td class="number">{row.parameters ? count(row.parameters) : "·"}</td>
                <td class="number">{epochsOf(row)}</td>
                <td class="number">{row.lr ?? "·"}</td>
                <td class="number">{losses.length ? digits(Math.min(...losses)) : "·"}</td>
                <td class="number">{Number.isNaN(accuracyOf(row)) ? "·" : percent(accuracyOf(row))}</td>
                <td class="number">{Number.isNaN(test) ? "·" : percent(test)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
