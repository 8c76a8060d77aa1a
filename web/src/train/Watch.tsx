// The chosen runs: how each stands, what can be done with it, and their curves on shared axes.
import { useState } from "preact/hooks";
import { json, LabError } from "../shared/api";
import { count, digits } from "../shared/format";
import { Empty, Fault } from "../shared/States";
import { toNumber } from "../shared/wire";
import { secondsLeft, timeWords } from "./curve";
import { Curves, hue, percent, type Watched } from "./Curves";
import { Mistakes } from "./Mistakes";
import { Compare } from "./Compare";
import { Rise } from "./Rise";
import { titleOf } from "./Runs";
import { Shelf } from "./Shelf";
import type { Options, Row } from "./types";
import { isClassifier, isGoing, stateWords } from "./words";

interface WatchProps {
  runs: Watched[];
  options: Options;
  onRows: (rows: Row[]) => void;
}

export function Watch({ runs, options, onRows }: WatchProps) {
  const points = runs.some(({ curve }) => curve.epochs.length + curve.steps.length > 0);
  // One run stands over its curves; of several, those that are training: the others come after the comparison.
  const first = ({ row }: Watched) => runs.length === 1 || Boolean(row && isGoing(row));
  const standing = (watched: Watched, place: number) => <Standing watched={watched} place={place} options={options} onRows={onRows} key={watched.name} />;
  return (
    <section class="train-watch" aria-label="curves of the chosen runs">
      {runs.map((watched, place) => first(watched) && standing(watched, place))}
      <Compare runs={runs} options={options} />
      {runs.length === 0 && <Empty>Tick a run to see its curves.</Empty>}
      {runs.length > 0 && (
        <>
          <ul class="train-key" aria-label="legend">
            {runs.length > 1 &&
              runs.map(({ name, row }, place) => (
                <li>
                  <span class="line-key" style={{ borderTop: `3px solid ${hue(place)}` }} /> {titleOf(name, options, row)}
                </li>
              ))}
            <li>
              <span class="line-key validation" /> validation: not trained on
            </li>
            <li>
              <span class="line-key training" /> training
            </li>
            {runs.length === 1 && (
              <li>
                <span class="line-key faint" /> each training step
              </li>
            )}
            <li>
              <span class="ring-key" /> best validation
            </li>
          </ul>
          {!points && runs.some(({ row }) => row && isGoing(row)) && <p class="note">The first points appear after ten steps.</p>}
          <div class="two">
            <Curves runs={runs} what="loss" />
            <Curves runs={runs} what="accuracy" />
          </div>
          {runs.map((watched) => watched.curve.verdict?.overfits && <Rise watched={watched} options={options} key={watched.name} />)}
          {runs.length === 1 && <Epochs watched={runs[0]!} />}
          <div class="standings">{runs.map((watched, place) => !first(watched) && standing(watched, place))}</div>
        </>
      )}
    </section>
  );
}

function Standing({ watched, place, options, onRows }: { watched: Watched; place: number; options: Options; onRows: (rows: Row[]) => void }) {
  const { name, row, curve } = watched;
  const example = name === options.example;
  const [error, setError] = useState<LabError>();
  const [waiting, setWaiting] = useState(false);
  const act = async (what: "stop" | "resume", settings: Record<string, string> = {}) => {
    setWaiting(true);
    setError(undefined);
    try {
      onRows((await json<{ rows: Row[] }>(`/api/train/${what}`, { run: name, settings })).rows);
    } catch (fault) {
      setError(fault as LabError);
    }
    setWaiting(false);
  };
  const left = row?.state === "running" ? secondsLeft(curve, row) : null;
  return (
    <article class="standing" aria-label={titleOf(name, options, row)} data-run={name} data-state={row?.state ?? "unknown"}>
      <h2>
        <span class="dot" style={{ background: hue(place) }} />
        {titleOf(name, options, row)}
        {row?.title && <span class="note"> {name}</span>}
      </h2>
      <p class="standing-words">
        {example ? (
          <>
            An example run: the log of <code>glassformer train lid-words-romanised --epochs 40</code>, on 410 sentences of English and romanised Hindi with one label per word.
          </>
        ) : row ? (
          <>
            {[row.data, row.parameters && `${count(row.parameters)} parameters`, row.start && `from ${row.start}`].filter(Boolean).join(", ")}
          </>
        ) : (
          "queued"
        )}
      </p>
      {row && !example && (
        <p class={row.state === "failed" ? "standing-state fault" : "standing-state"} role="status">
          {stateWords(row)}
          {row.test && toNumber(row.test.accuracy) >= 0 && `: ${percent(toNumber(row.test.accuracy))} test accuracy with the weights of epoch ${row.best?.epoch}`}
        </p>
      )}
      {row && isGoing(row) && (
        <p class="standing-progress">
          <progress max={1} value={row.steps ? (row.step ?? 0) / row.steps : undefined} aria-label={`progress of ${name}`} />
          <span>
            {row.steps ? `step ${count(row.step ?? 0)} of ${count(row.steps)}` : ""}
            {left !== null && `, about ${timeWords(left)} left`}
          </span>
        </p>
      )}
      {row && !example && (
        <div class="standing-actions">
          {isGoing(row) && (
            <button type="button" disabled={waiting || row.state === "stopping"} onClick={() => void act("stop")}>
              stop
            </button>
          )}
          {["stopped", "killed", "failed"].includes(row.state) && row.epochs && <Resume row={row} waiting={waiting} onResume={(settings) => void act("resume", settings)} />}
          {row.trace && <a href={`/trace?model=${encodeURIComponent(`run:${name}`)}`}>open in Trace</a>}
          {row.state === "finished" && (
            <details class="further">
              <summary>continue training</summary>
              <Resume row={row} waiting={waiting} further onResume={(settings) => void act("resume", settings)} />
            </details>
          )}
          <Shelf row={row} onRows={onRows} />
        </div>
      )}
      {row && !example && isClassifier(row) && <Mistakes run={name} />}
      <Fault error={error} />
    </article>
  );
}

/** Go on as it was, or with another rate or more epochs. */
function Resume({ row, waiting, further, onResume }: { row: Row; waiting: boolean; further?: boolean; onResume: (settings: Record<string, string>) => void }) {
  const [epochs, setEpochs] = useState(further ? String((row.epochs ?? 1) * 2) : "");
  const [lr, setLr] = useState("");
  return (
    <form
      class="resume"
      onSubmit={(event) => {
        event.preventDefault();
        onResume({ epochs, lr });
      }}
    >
      <button type="submit" disabled={waiting}>
        resume
      </button>
      <label>
        epochs <input size={4} inputMode="numeric" value={epochs} placeholder={String(row.epochs ?? "")} onInput={(event) => setEpochs(event.currentTarget.value)} />
      </label>
      <label>
        lr <input size={6} inputMode="decimal" value={lr} placeholder={row.lr === undefined ? "" : String(row.lr)} onInput={(event) => setLr(event.currentTarget.value)} />
      </label>
    </form>
  );
}

function Epochs({ watched: { curve } }: { watched: Watched }) {
  if (!curve.epochs.length) return null;
  const shown = [...curve.epochs].reverse();
  return (
    <details class="train-epochs">
      <summary>table of epochs</summary>
      <div class="wide" tabIndex={0} role="group" aria-label="table of epochs">
        <table class="rows">
          <thead>
            <tr>
              {["epoch", "training loss", "validation loss", "training accuracy", "validation accuracy", "seconds"].map((head) => (
                <th scope="col" class="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((epoch) => (
              <tr key={epoch.epoch}>
                <td class="number">{epoch.epoch}</td>
                <td class="number" title={String(epoch.trainLoss)}>{digits(epoch.trainLoss)}</td>
                <td class="number" title={String(epoch.validationLoss)}>{digits(epoch.validationLoss)}</td>
                <td class="number" title={String(epoch.trainAccuracy)}>{percent(epoch.trainAccuracy)}</td>
                <td class="number" title={String(epoch.validationAccuracy)}>{percent(epoch.validationAccuracy)}</td>
                <td class="number">{digits(epoch.seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
