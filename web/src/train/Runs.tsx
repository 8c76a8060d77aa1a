// The table of runs: a tick shows a run's curves.
import { useParam } from "../shared/place";
import { Empty } from "../shared/States";
import { hue, percent } from "./Curves";
import type { Options, Row } from "./types";
import { accuracyOf, epochsOf, STATES } from "./words";

interface RunsProps {
  rows: Row[];
  chosen: string[];
  options: Options;
  onChoose: (names: string[]) => void;
}

export const titleOf = (name: string, options: Options, row?: Row): string => (name === options.example ? "an example" : row?.title || name);

export function Runs({ rows: all, chosen, options, onChoose }: RunsProps) {
  const [archive, setArchive] = useParam("archive");
  const archived = all.filter((row) => row.archived).length;
  const rows = archive === "shown" ? all : all.filter((row) => !row.archived || chosen.includes(row.name));
  const full = chosen.length >= options.most_shown;
  const toggle = (name: string) => onChoose(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <section class="train-runs" aria-labelledby="runs-title">
      <div class="train-top">
        <h2 id="runs-title">Runs</h2>
        <button type="button" class="quiet train-jump" onClick={() => document.getElementById("new-title")?.scrollIntoView()}>
          new run
        </button>
      </div>
      {all.length === 0 && <Empty>No runs in {options.runs} yet. The curves shown are from an example run that comes with the lab.</Empty>}
      {rows.length > 0 && (
        <div class="train-table" tabIndex={0} role="group" aria-label="table of runs">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">run</th>
                <th scope="col">state</th>
                <th scope="col" class="number">
                  epochs
                </th>
                <th scope="col" class="number" title="validation accuracy: the best epoch of a finished run, otherwise the latest epoch">
                  accuracy
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => {
                const place = chosen.indexOf(row.name);
                return (
                  <tr key={row.name} class={place < 0 ? "" : "chosen"} data-run={row.name} data-state={row.state}>
                    <td>
                      <label class="train-pick">
                        <input type="checkbox" checked={place >= 0} disabled={place < 0 && full} onChange={() => toggle(row.name)} />
                        <span class="dot" style={{ background: place < 0 ? "transparent" : hue(place) }} />
                        <span class="train-name" title={row.name}>
                          {row.title || row.name}
                        </span>
                      </label>
                    </td>
                    <td class={`state-${row.state}`}>{row.archived ? "archived" : STATES[row.state]}</td>
                    <td class="number">{epochsOf(row)}</td>
                    <td class="number">{Number.isNaN(accuracyOf(row)) ? "·" : percent(accuracyOf(row))}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {archived > 0 && (
        <button type="button" class="quiet" onClick={() => setArchive(archive === "shown" ? "" : "shown")}>
          {archive === "shown" ? "hide the archive" : `show the archive (${archived})`}
        </button>
      )}
      {full && <p class="note">At most {options.most_shown} runs can be shown at once.</p>}
    </section>
  );
}
