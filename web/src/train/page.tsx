// Train: runs started, watched, stopped and compared.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import { change, query } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import { NOTHING } from "./curve";
import { useLive } from "./live";
import { NewRun } from "./NewRun";
import { Runs } from "./Runs";
import type { Options, Row } from "./types";
import { Watch } from "./Watch";

export default function Train() {
  const known = useAnswer<Options>("/api/train/options");
  if (!known.value) return known.error ? <Fault error={known.error} /> : <Progress />;
  return <Hall options={known.value} />;
}

/** Which runs are looked at: what the address says, or the newest, or, where there is none, the example. */
export function shownRuns(asked: string[], rows: Row[] | undefined, options: Options): string[] {
  if (asked.length) return asked.includes("none") ? [] : asked.slice(0, options.most_shown);
  if (!rows) return [];
  return [rows.find((row) => !row.archived)?.name ?? options.example];
}

function Hall({ options }: { options: Options }) {
  const asked = query.value.getAll("run");
  const [newest, setNewest] = useState<Row[]>(); // the table as it was first: what nobody chose does not change under one's eyes
  const chosen = shownRuns(asked, newest, options);
  const [live, setRows] = useLive(chosen);
  useEffect(() => {
    if (newest === undefined && live.rows) setNewest(live.rows);
  }, [live.rows]);
  const rows = live.rows ?? [];
  const choose = (names: string[]) => change({ run: names.length ? names : "none" });
  const watched = chosen.map((name) => ({ name, curve: live.curves.get(name) ?? NOTHING, row: rowOf(rows, name, options) }));
  const missing = live.rows ? chosen.filter((name) => !rowOf(rows, name, options) && !waits(rows, name)) : [];
  return (
    <>
      <h1>Train a small model, compare runs, look at the mistakes</h1>
      {live.lost && (
        <p class="fault" role="alert">
          The lab is not responding. Training continues without it. If the lab was restarted, open the address that it printed.
        </p>
      )}
      <div class="train">
        <Runs rows={rows} chosen={chosen} options={options} onChoose={choose} />
        <div class="train-side">
          {missing.map((name) => (
            <p class="fault" role="alert" key={name}>
              there is no run {name} in {options.runs}.
            </p>
          ))}
          {live.rows ? <Watch runs={watched.filter(({ name }) => !missing.includes(name))} options={options} onRows={setRows} /> : <Progress>looking for runs …</Progress>}
        </div>
        <NewRun options={options} onStarted={(names) => change({ run: names })} />
      </div>
    </>
  );
}

const EXAMPLE_ROW: Omit<Row, "name"> = {
  title: "", archived: false, state: "finished", said: "", trace: false, ended: true, epochs: 40, steps: null, step: 0, epoch: 0,
  data: null, task: null, parameters: null, start: null, lr: null, last: null, best: null, test: null,
};

function rowOf(rows: Row[], name: string, options: Options): Row | undefined {
  return name === options.example ? { name, ...EXAMPLE_ROW } : rows.find((row) => row.name === name);
}

/** One of several runs, one after the other, whose turn has not come. */
function waits(rows: Row[], name: string): boolean {
  const [above, inner] = name.split("/");
  return inner !== undefined && rows.some((row) => row.name === above || row.name.startsWith(`${above}/`));
}
