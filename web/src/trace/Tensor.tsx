// One step of the run as a grid, as lines between words, or over the picture.
import { arrays, useAnswer, type Answer } from "../shared/api";
import { scaleFor, type Scale } from "../shared/colours";
import { Door, openDoor, trail } from "../shared/Door";
import { digits as said } from "../shared/format";
import { Grid } from "../shared/Grid";
import { change, query, useParam } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import { Switch } from "../shared/Switch";
import { toNumber, type Arrays, type FloatArray } from "../shared/wire";
import { cellId, cellOfPage, placeInPage, stepTitle, strongest } from "./cells";
import { Lines } from "./Lines";
import { crosses, isWeights as holdsWeights, layerOf, wordsAlong } from "./parts";
import { digitOf, Looks } from "./Picture";
import type { Opened, Page, Side, Step } from "./types";
import type { Where } from "./where";

interface TensorProps {
  opened: Opened;
  where: Where;
  step: Step;
  part: string;
  head: number;
  asks: number; // the token that asks
  digits: FloatArray;
}

export function Tensor({ opened, where, step, part, head, asks, digits }: TensorProps) {
  const [view, setView] = useParam("view", opened.reads === "image" ? "picture" : "grid");
  const [show, setShow] = useParam("show", "after");
  const middle = step.axes.some(([axis]) => axis === "t" || axis === "u") && asks >= WINDOW ? asks - WINDOW / 2 : 0; // the row that asks is in sight
  const places: Record<string, number> = { from_row: query.value.has("row") ? numberOf("row") : middle, from_column: numberOf("column") };
  for (const [axis] of step.axes) if (axis !== "t" && axis !== "s" && query.value.has(`i_${axis}`)) places[axis] = numberOf(`i_${axis}`);
  if (step.axes.some(([axis]) => axis === "head")) places.head = head;
  const shared = step.axes.find(([axis]) => axis === "kv_head"); // keys and values that a group of heads reads
  if (shared) places.kv_head = Math.floor((head * shared[1]) / (opened.stacks.find((one) => one.name === step.stack)?.heads ?? opened.heads));
  const answer = useAnswer<Arrays<Page>>("/api/trace/tensor", { ...where, name: step.name, at: places }, (url, body, signal) => arrays<Page>(url, body, signal));
  const isWeights = holdsWeights(step.name);
  const row = useAnswer<Arrays<Page>>(isWeights ? "/api/trace/tensor" : null, { ...where, name: step.name, at: { head, from_row: asks, whole_row: 1 } }, (url, body, signal) =>
    arrays<Page>(url, body, signal),
  );
  const image = opened.reads === "image" ? opened.steps.find((one) => one.name === "image") : undefined;
  const small = image?.axes.every(([axis, size]) => axis === "channel" || size <= 64);
  const pixels = useAnswer<Arrays<Page>>(small ? "/api/trace/tensor" : null, { ...where, name: "image", at: { channel: 0 } }, (url, body, signal) => arrays<Page>(url, body, signal));
  const found = answer.value;
  const stale = found !== undefined && found.header.name !== step.name;
  const seen = !found?.arrays.before || (show !== "before" && show !== "difference") ? "after" : show;
  const views: [string, string][] = [...(opened.reads === "image" ? [["picture", "over the image"] as [string, string]] : []), ["grid", "grid"], ["lines", "lines"]];
  const looks = isWeights && views.some(([id]) => id === view) ? view : "grid";
  return (
    <section class="tensor" aria-label={step.name}>
      <div class="tensor-choices">
        {isWeights && <Switch label="how attention is shown" value={looks} choices={views} onChange={setView} />}
        {opened.edits.length > 0 && found?.arrays.before && (
          <Switch
            label="values shown"
            value={seen}
            choices={[
              ["before", "before"],
              ["after", "after"],
              ["difference", "difference"],
            ]}
            onChange={setShow}
          />
        )}
        {opened.edits.length > 0 && found && !stale && !found.arrays.before && <span class="note">not affected by the change</span>}
        {isWeights && <Attends opened={opened} step={step} head={head} asks={asks} row={row} seen={seen} />}
      </div>
      <Fault error={answer.error} />
      {(!found || stale) && answer.waiting && <Progress>running the model …</Progress>}
      {found && !stale && (
        <>
          <Range page={found.header} />
          {looks === "picture" && row.value ? (
            <Looks
              opened={opened}
              pixels={pixels.value?.arrays.after ?? digitOf(digits, Math.min(numberOf("image"), (digits.shape[0] ?? 1) - 1))}
              layer={layerOf(part) ?? 0}
              head={head}
              query={asks}
              weights={(row.value.arrays[seen] ?? row.value.arrays.after)!.data}
            />
          ) : (
            <Flat opened={opened} found={found} seen={seen} looks={looks} asks={asks} isWeights={isWeights} />
          )}
        </>
      )}
    </section>
  );
}

const WINDOW = 64;
const SMALL = 0.001; // smaller weights are not listed in the sentence

const numberOf = (key: string): number => Math.max(0, Math.trunc(Number(query.value.get(key) ?? 0)) || 0);

/** The words along a side, where it has words. */
function labelsOf(name: string, side: Side, count: number, opened: Opened, seen: string): string[] {
  const words = wordsAlong(opened, name, side.axis, seen);
  const shift = side.axis === "patch" ? (opened.image?.before ?? 0) : 0;
  return Array.from({ length: count }, (_, place) => words[side.start + place + shift] ?? String(side.start + place));
}

const ROWS: Record<string, string> = { t: "a token", u: "a token of the target", s: "a token (as a key)", patch: "a patch", "": "the whole vector", class: "a class" };
const ASKS = ["t", "u"];

const NAMES: Record<string, string> = { t: "query", u: "query", s: "key" };

function Flat({ opened, found, seen, looks, asks, isWeights }: { opened: Opened; found: Arrays<Page>; seen: string; looks: string; asks: number; isWeights: boolean }) {
  const page = found.header;
  const { data, shape } = found.arrays[seen] ?? found.arrays.after!;
  const [rows = 1, columns = 1] = shape;
  const rowLabels = labelsOf(page.name, page.rows, rows, opened, seen);
  const columnLabels = labelsOf(page.name, page.columns, columns, opened, seen);
  const own = asks - page.rows.start;
  if (looks === "lines" && seen !== "difference") return <Lines page={page} values={data} rows={rowLabels} columns={columnLabels} query={own >= 0 && own < rows ? own : 0} />;
  const scale: Scale =
    seen === "difference" ? scaleFor(data, "diverging") : isWeights ? { kind: "sequential", low: 0, high: toNumber(page.largest) || 1 } : scaleFor([toNumber(page.least), toNumber(page.largest)], "diverging");
  return (
    <Grid
      title={`${stepTitle(page.name)}${ASKS.includes(page.rows.axis) && page.columns.axis === "s" ? (crosses(page.name) ? ": each row is a token of the target, each column one of the source" : ": each row is a query, each column a key") : `: each row is ${ROWS[page.rows.axis] ?? "a row"}`}${Object.entries(page.fixed).map(([axis, place]) => (axis === "batch" || axis === "head" ? "" : `, ${axis} ${place}`)).join("")}`}
      rows={rows}
      columns={columns}
      values={data}
      kind={scale.kind}
      scale={scale}
      rowLabels={rowLabels}
      columnLabels={columnLabels}
      rowName={isWeights ? NAMES[page.rows.axis] : page.rows.axis || "row"}
      columnName={isWeights ? NAMES[page.columns.axis] : page.columns.axis || "column"}
      selected={placeInPage(page, trail().at(-1))}
      markedRow={ASKS.includes(page.rows.axis) && own >= 0 && own < rows ? own : undefined}
      onOpen={(row, column) => openDoor(cellOfPage(page, row, column))}
    />
  );
}

/** Said where a page is larger than its window, with the way to the rest. */
function Range({ page }: { page: Page }) {
  const sides = ([["row", page.rows], ["column", page.columns]] as [string, Side][]).filter(([, side]) => side.size > page.window);
  if (sides.length === 0) return null;
  return (
    <p class="note ranges">
      {sides.map(([key, side]) => (
        <span class="range">
          Showing {side.axis} {side.start} to {side.start + page.window - 1} of {side.size}{" "}
          <button type="button" class="quiet" disabled={side.start === 0} aria-label={`earlier ${side.axis}`} onClick={() => change({ [key]: String(Math.max(0, side.start - page.window)) })}>
            ◀
          </button>
          <label>
            <span class="unseen">first {side.axis}</span>
            <input
              type="number"
              min={0}
              max={side.size - page.window}
              value={side.start}
              onChange={(event) => change({ [key]: event.currentTarget.value }, "replace")}
            />
          </label>
          <button
            type="button"
            class="quiet"
            disabled={side.start + page.window >= side.size}
            aria-label={`later ${side.axis}`}
            onClick={() => change({ [key]: String(side.start + page.window) })}
          >
            ▶
          </button>
        </span>
      ))}
    </p>
  );
}

/** A sentence that reads the row of the token that asks: its strongest keys, each a door. */
function Attends({ opened, step, head, asks, row, seen }: { opened: Opened; step: Step; head: number; asks: number; row: Answer<Arrays<Page>>; seen: string }) {
  const found = row.value?.arrays[seen] ?? row.value?.arrays.after;
  if (!found || seen === "difference" || row.value!.header.rows.start !== asks || row.value!.header.fixed.head !== head) return <p class="attends" />;
  const axis = step.axes.find(([one]) => ASKS.includes(one))?.[0] ?? "t";
  const words = wordsAlong(opened, step.name, "s", seen);
  const asking = wordsAlong(opened, step.name, axis, seen)[asks];
  return (
    <p class="attends">
      <b>{asking}</b> attends to{" "}
      {strongest(found.data, 3)
        .filter((place, number) => number === 0 || found.data[place]! >= SMALL)
        .map((place, number) => (
        <>
          {number > 0 && ", "}
          <b>{words[place]}</b> <Door id={cellId(step.name, { head, [axis]: asks, s: place })} value={found.data[place]!} label={`${said(found.data[place]!)}: ${asking} to ${words[place]}`} />
        </>
      ))}
    </p>
  );
}
