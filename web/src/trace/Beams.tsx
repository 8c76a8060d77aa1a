// Beam search: after each token the hypotheses that were kept. A click opens one.
import { useAnswer } from "../shared/api";
import { digits } from "../shared/format";
import { change, useParam } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import type { Beams as Found, Hypothesis, Opened } from "./types";
import type { Where } from "./where";

const WIDTHS = ["2", "3", "4", "5"];

export function Beams({ opened, where, asks }: { opened: Opened; where: Where; asks: number }) {
  const [width, setWidth] = useParam("beams");
  const answer = useAnswer<Found>(WIDTHS.includes(width) ? "/api/trace/beams" : null, { ...where, edits: [], beams: Number(width) || 0 });
  const found = WIDTHS.includes(width) ? answer.value : undefined;
  const step = found && Math.min(Math.max(asks + 1 - found.start, 0), found.steps.length - 1);
  const kept = found && step !== undefined ? found.steps[step] : undefined;
  return (
    <div class="beams">
      <label>
        beam search{" "}
        <select value={width} onChange={(event) => setWidth(event.currentTarget.value)}>
          <option value="">off</option>
          {WIDTHS.map((one) => (
            <option value={one}>{one} hypotheses</option>
          ))}
        </select>
      </label>
      <Fault error={width ? answer.error : undefined} />
      {width && answer.waiting && <Progress>searching …</Progress>}
      {kept && (
        <>
          <p class="note">Kept after token {step! + 1 + found!.start}, best first; the number is the sum of the log-probabilities.</p>
          <ol>
            {kept.map((one) => (
              <Line opened={opened} one={one} start={found!.start} key={one.ids.join()} />
            ))}
          </ol>
        </>
      )}
      {found && (
        <p class="note">
          Written in the end{found.ended ? "" : ` (stopped after ${found.best.ids.length - found.start} tokens)`}; the sum is divided by the number of tokens:
        </p>
      )}
      {found && (
        <ol>
          <Line opened={opened} one={found.best} start={found.start} />
        </ol>
      )}
    </div>
  );
}

function Line({ opened, one, start }: { opened: Opened; one: Hypothesis; start: number }) {
  const here = one.ids.length <= opened.ids.length && one.ids.every((id, at) => opened.ids[at] === id);
  return (
    <li aria-current={here ? "true" : undefined}>
      <button type="button" class="quiet" onClick={() => change({ ids: one.ids.join(","), q: String(one.ids.length - 1), edit: null, show: null, at: null })}>
        {one.words.slice(start).join(" ")}
      </button>{" "}
      <span class="number">{digits(one.score)}</span>
    </li>
  );
}
