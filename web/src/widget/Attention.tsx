// Who attends to whom, in a notebook: a layer and a head are chosen, a weight opens.
import { useEffect, useState } from "preact/hooks";
import { Grid } from "../shared/Grid";
import { toNumber } from "../shared/wire";
import { Cell } from "./Cell";
import type { Ask } from "./model";
import type { AttentionFirst } from "./types";

interface Shown {
  layer: number;
  head: number;
  row: number;
  column: number;
}

export function Attention({ ask, first }: { ask: Ask; first: AttentionFirst }) {
  const { queries, keys, layers, heads, window } = first;
  const [asked, setAsked] = useState<Shown>({ layer: layers[0]!, head: heads[0]!, row: 0, column: 0 });
  const [shown, setShown] = useState<Shown & { values: ArrayLike<number> }>({ ...asked, values: first.weights.map(toNumber) });
  const [opened, setOpened] = useState<[number, number] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    if (same(asked, shown)) return;
    let wanted = true;
    setError("");
    ask({ ask: "weights", ...asked }).then(
      ({ values }) => wanted && setShown({ ...asked, values }),
      (fault: Error) => wanted && setError(fault.message),
    );
    return () => {
      wanted = false;
    };
  }, [asked]);
  const choose = (changes: Partial<Shown>) => {
    setOpened(null);
    setAsked({ ...asked, ...changes });
  };
  const rows = queries.slice(shown.row, shown.row + window);
  const columns = keys.slice(shown.column, shown.column + window);
  const name = first.name.replace("*", String(shown.layer));
  const start = opened && `${name}[head=${shown.head},${first.query_axis}=${shown.row + opened[0]},s=${shown.column + opened[1]}]`;
  const longest = Math.max(queries.length, keys.length);
  return (
    <div class="widget-attention">
      <div class="widget-choices">
        <Choice name="layer" values={layers} value={asked.layer} onChoose={(layer) => choose({ layer })} />
        <Choice name="head" values={heads} value={asked.head} onChoose={(head) => choose({ head })} />
        {longest > window && (
          <>
            <Choice name="queries from" values={starts(queries.length, window)} value={asked.row} onChoose={(row) => choose({ row })} />
            <Choice name="keys from" values={starts(keys.length, window)} value={asked.column} onChoose={(column) => choose({ column })} />
            <span class="note">
              showing {window} of {longest} tokens
            </span>
          </>
        )}
      </div>
      {error && <p class="fault" role="alert">{error}</p>}
      <div class="widget-columns">
        <div aria-busy={!same(asked, shown)}>
          <Grid
            title={`layer ${shown.layer}, head ${shown.head}: each row is a query, each column a key`}
            rows={rows.length}
            columns={columns.length}
            values={shown.values}
            kind="sequential"
            scale={{ kind: "sequential", low: 0, high: 1 }}
            rowLabels={rows}
            columnLabels={columns}
            rowName="query"
            columnName="key"
            selected={opened ?? undefined}
            onOpen={(row, column) => setOpened([row, column])}
          />
        </div>
        {start ? <Cell ask={ask} start={start} key={start} /> : <p class="panel waiting note">Click a weight to see its formula, arithmetic and terms here. Click any of those to go deeper.</p>}
      </div>
    </div>
  );
}

const same = (left: Shown, right: Shown): boolean => left.layer === right.layer && left.head === right.head && left.row === right.row && left.column === right.column;

export const starts = (length: number, window: number): number[] => Array.from({ length: Math.ceil(length / window) }, (_, place) => place * window);

function Choice({ name, values, value, onChoose }: { name: string; values: number[]; value: number; onChoose: (value: number) => void }) {
  return (
    <label>
      {name}{" "}
      <select value={String(value)} onChange={(event) => onChoose(Number(event.currentTarget.value))}>
        {values.map((one) => (
          <option value={String(one)}>{one}</option>
        ))}
      </select>
    </label>
  );
}
