// Trace: a sentence through a model, every number of it open.
import { arrays, json, useAnswer } from "../shared/api";
import { Door } from "../shared/Door";
import { Panel } from "../shared/Panel";
import { query } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import type { Arrays } from "../shared/wire";
import { brief, cellId, parseLedger, chosenStep, firstQuery, stepsOf, toggled } from "./cells";
import { CellPanel } from "./CellPanel";
import { Changes, Output, Tokens } from "./Changes";
import { Controls } from "./Controls";
import { Meaning, Slider, Steps } from "./Steps";
import { LedgerPanel } from "./Ledger";
import { Strip } from "./Strip";
import { Tensor } from "./Tensor";
import type { Models, Opened } from "./types";
import { edits, setEdits, whereOf, type Where } from "./where";

export default function Trace() {
  const known = useAnswer<Arrays<Models>>("/api/trace/models", undefined, (url, _, signal) => arrays<Models>(url, undefined, signal));
  if (!known.value) return known.error ? <Fault error={known.error} /> : <Progress />;
  return <Run known={known.value} />;
}

/** A run, and the address that it belongs to: what is asked about it is asked with the same address. */
interface Found {
  where: Where;
  opened: Opened;
}

const found = async (url: string, body: unknown, signal: AbortSignal): Promise<Found> => ({ where: body as Where, opened: await json<Opened>(url, body, signal) });

function Run({ known }: { known: Arrays<Models> }) {
  const asked = query.value.get("layer") ?? "0";
  const first = useAnswer<Found>("/api/trace/open", whereOf(0), found);
  // A run that is too large to be kept whole is kept a layer at a time.
  const whole = first.value?.opened;
  const inside = whole && !whole.whole && /^[1-9]\d*$/.test(asked) && Number(asked) < whole.layers;
  const layer = useAnswer<Found>(inside ? "/api/trace/open" : null, whereOf(Number(asked)), found);
  const answer = inside ? layer : first;
  return (
    <>
      <h1 class="unseen">Trace</h1>
      <Controls known={known} opened={answer.value?.opened} />
      <Fault error={answer.error} note={answer.value ? "Below: the last valid result." : undefined} />
      {edits().length > 0 && answer.error && (
        <button type="button" onClick={() => setEdits([])}>
          undo all changes
        </button>
      )}
      <div class="trace-wait">{answer.waiting && <Progress>running the model …</Progress>}</div>
      {answer.value && <Traced known={known} found={answer.value} asked={asked} waiting={answer.waiting} />}
    </>
  );
}

function Traced({ known, found, asked, waiting }: { known: Arrays<Models>; found: Found; asked: string; waiting: boolean }) {
  const { opened } = found;
  const after = opened.steps.some((step) => step.layer === "after");
  const layer = asked === "in" || (asked === "after" && after) || (/^\d+$/.test(asked) && Number(asked) < opened.layers) ? asked : opened.layers ? "0" : "in";
  const where: Where = { ...found.where, layer: opened.whole || !/^\d+$/.test(layer) ? 0 : Number(layer) };
  const steps = stepsOf(opened, layer);
  const step = chosenStep(steps, query.value.get("step") ?? "");
  const head = within(query.value.get("head"), opened.heads, 0);
  const asks = within(query.value.get("q"), opened.t, firstQuery(opened));
  const drop = `drop:${layer}.${head}`;
  const inLayer = layer !== "in" && layer !== "after";
  const hasHeads = step?.axes.some(([axis]) => axis === "head" || axis === "kv_head") ?? false;
  return (
    <div class={waiting ? "trace waiting-for-run" : "trace"} aria-busy={waiting}>
      <Tokens opened={opened} asks={asks} />
      <Changes opened={opened} />
      <div class="trace-columns">
        <div class="trace-left">
          <Strip opened={opened} where={where} layer={layer} head={head} />
          {step && <Steps steps={steps} chosen={step} />}
        </div>
        <div class="trace-centre">
          <div class="trace-title">
            <h2>{inLayer ? `Layer ${layer}${hasHeads ? `, head ${head}` : ""}` : layer === "in" ? "Inputs and embeddings" : "After the last layer"}</h2>
            {step && <Slider steps={steps} chosen={step} />}
            {inLayer && hasHeads && (
              <button type="button" disabled={!opened.whole} onClick={() => setEdits(toggled(edits(), drop))}>
                {edits().includes(drop) ? "restore this head" : "ablate this head"}
              </button>
            )}
          </div>
          {step && <Meaning chosen={step} />}
          {step && <Tensor opened={opened} where={where} step={step} layer={layer} head={head} asks={asks} digits={known.arrays.digits!} />}
        </div>
        <div class="trace-side">
          <Output opened={opened} />
          <Panel title={(id) => brief(id, opened.tokens, opened.labels)} empty={<Hint opened={opened} asks={asks} head={head} layer={layer} />}>
            {(id) => (parseLedger(id) ? <LedgerPanel id={id} where={where} /> : <CellPanel id={id} where={where} whole={opened.whole} />)}
          </Panel>
        </div>
      </div>
    </div>
  );
}

function within(text: string | null, size: number, otherwise: number): number {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) < size ? Number(text) : otherwise;
}

/** What the panel says while nothing is open. */
function Hint({ opened, asks, head, layer }: { opened: Opened; asks: number; head: number; layer: string }) {
  const number = /^\d+$/.test(layer) ? layer : "0";
  return (
    <>
      <p class="soft">Click a number to see its formula, arithmetic and terms here. Click any of those to go deeper, down to the weights.</p>
      {opened.layers > 0 && (
        <p>
          Start with{" "}
          <Door id={cellId(`layers.${number}.attention.weights`, { head, t: asks, s: 0 })}>
            how much {opened.tokens[asks]} attends to {opened.tokens[0]}
          </Door>
        </p>
      )}
    </>
  );
}
