// What a finished run gets wrong: the confusion matrix of its test rows, and the most confident mistakes, each opened in Trace.
import { useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import type { Rgb } from "../shared/colours";
import { Go } from "../shared/Go";
import { Pixels } from "../shared/Pixels";
import { Shown } from "../shared/States";
import { toNumber, type WireNumber } from "../shared/wire";
import { percent } from "./Curves";
import type { Mistake, Mistakes as MistakesOf } from "./types";

export function Mistakes({ run }: { run: string }) {
  const [open, setOpen] = useState(false);
  const answer = useAnswer<MistakesOf>(open ? "/api/train/mistakes" : null, { run });
  return (
    <section class="mistakes" aria-label={`mistakes of ${run}`}>
      {open ? <Shown answer={answer}>{(found) => <Found found={found} />}</Shown> : <button type="button" onClick={() => setOpen(true)}>show its mistakes</button>}
    </section>
  );
}

function Found({ found }: { found: MistakesOf }) {
  const { labels, confusion, rows, worst } = found;
  return (
    <>
      <p>
        Test accuracy {percent(toNumber(found.accuracy))} on {rows} rows that training did not see (95% interval {percent(toNumber(found.low))} to {percent(toNumber(found.high))}).
      </p>
      {labels.length <= 20 && (
        <div class="wide" tabIndex={0} role="group" aria-label="confusion matrix">
          <table class="confusion">
            <caption>test rows by true label (down) and prediction (across)</caption>
            <thead>
              <tr>
                <td />
                {labels.map((label) => (
                  <th scope="col">{label}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {confusion.map((row, place) => (
                <tr>
                  <th scope="row">{labels[place]}</th>
                  {row.map((count, column) => (
                    <td class={count === 0 ? "none" : column === place ? "right" : "wrong"}>{count || "·"}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {worst.length === 0 ? <p>No mistake on the test rows.</p> : <h3>The most confident mistakes</h3>}
      <ul class="worst">
        {worst.map((mistake) => (
          <li key={mistake.row}>
            <Go to={`/trace?${new URLSearchParams({ model: `run:${found.run}`, ...(found.task === "image" ? { image: `test:${mistake.row}` } : { text: String(mistake.input) }) })}`} title={`open row ${mistake.row} of the test data in Trace`}>
              <Read mistake={mistake} image={found.task === "image"} />
              <span>
                {mistake.true} taken for {mistake.predicted} <span class="note">{percent(toNumber(mistake.probability))}</span>
              </span>
            </Go>
          </li>
        ))}
      </ul>
    </>
  );
}

function Read({ mistake, image }: { mistake: Mistake; image: boolean }) {
  if (!image) return <q>{String(mistake.input)}</q>;
  const rows = mistake.input as WireNumber[][][];
  const width = rows[0]?.length ?? 0;
  const colour = (place: number): Rgb => rows[Math.floor(place / width)]![place % width]!.map(toNumber) as Rgb;
  return <Pixels width={width} height={rows.length} colour={colour} drawn={[mistake.row]} class="pixels" style={{ width: "40px", height: "40px" }} />;
}
