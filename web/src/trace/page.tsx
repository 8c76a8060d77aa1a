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
import { Next } from "./Next";
import { asking, asksTarget, dropOf, isWeights, layerOf, parsePart, partOr, wordsAlong } from "./parts";
import { Rows } from "./Rows";
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
  const asked = query.value.get("layer");
  const first = useAnswer<Found>("/api/trace/open", whereOf(0), found);
  // A run that is too large to be kept whole is kept a layer at a time.
  const whole = first.value?.opened;
  const wanted = (asked !== null && layerOf(asked)) || 0;
  const inside = whole && !whole.whole && wanted > 0 && wanted < Math.max(...whole.stacks.map((stack) => stack.layers));
  const layer = useAnswer<Found>(inside ? "/api/trace/open" : null, whereOf(wanted), found);
  const answer = inside ? layer : first;
  return (
    <>
      <h1>Run a model on a sentence or an image and open every number</h1>
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

function Traced({ known, found, asked, waiting }: { known: Arrays<Models>; found: Found; asked: string | null; waiting: boolean }) {
  const { opened } = found;
  const part = partOr(opened, asked);
  const number = layerOf(part);
  const { stack } = parsePart(part);
  const where: Where = { ...found.where, layer: opened.whole ? 0 : (number ?? 0) };
  const steps = stepsOf(opened, part);
  const step = chosenStep(steps, query.value.get("step") ?? "");
  const head = within(query.value.get("head"), (opened.stacks.find((one) => one.name === stack) ?? opened.stacks[0]!).heads, 0);
  const words = asking(opened, part);
  const two = opened.stacks.length > 1;
  const asks = within(query.value.get("q"), words.length, asksTarget(opened, part) || (!two && opened.predicts_next) ? words.length - 1 : firstQuery(opened));
  const drop = dropOf(part, step?.name ?? "", head);
  const along = (name: string, axis: string) => wordsAlong(opened, name, axis);
  const hasHeads = step?.axes.some(([axis]) => axis === "head" || axis === "kv_head") ?? false;
  return (
    <div class={waiting ? "trace waiting-for-run" : "trace"} aria-busy={waiting}>
      {two && <Rows opened={opened} where={where} part={part} head={head} asks={asks} />}
      {!asksTarget(opened, part) && <Tokens opened={opened} asks={asks} chips={!two} />}
      <Changes opened={opened} />
      <div class="trace-columns">
        <div class="trace-left">
          <Strip opened={opened} where={where} part={part} head={head} />
          {step && <Steps steps={steps} chosen={step} />}
        </div>
        <div class="trace-centre">
          <div class="trace-title">
            <h2>{titleOf(part, hasHeads ? head : undefined)}</h2>
            {step && <Slider steps={steps} chosen={step} />}
            {number !== undefined && hasHeads && (
              <button type="button" disabled={!opened.whole} onClick={() => setEdits(toggled(edits(), drop))}>
                {edits().includes(drop) ? "restore this head" : "ablate this head"}
              </button>
            )}
          </div>
          {step && <Meaning chosen={step} />}
          {step && <Tensor opened={opened} where={where} step={step} part={part} head={head} asks={asks} digits={known.arrays.digits!} />}
        </div>
        <div class="trace-side">
          <Output opened={opened} />
          <Next opened={opened} where={where} asks={two && !asksTarget(opened, part) ? opened.target.length - 1 : asks} words={two ? opened.target : opened.tokens} />
          <Panel title={(id) => brief(id, along)} empty={<Hint opened={opened} asks={asks} head={head} part={part} />}>
            {(id) => (parseLedger(id) ? <LedgerPanel id={id} where={where} /> : <CellPanel id={id} where={where} whole={opened.whole} words={along} />)}
          </Panel>
        </div>
      </div>
    </div>
  );
}

function within(text: string | null, size: number, otherwise: number): number {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) < size ? Number(text) : otherwise;
}

const STACKS: Record<string, string> = { encoder: "Encoder, ", decoder: "Decoder, " };

/** `Layer 3, head 0`, `Decoder, layer 0, head 1`, `Inputs and embeddings`. */
function titleOf(part: string, head: number | undefined): string {
  const { stack, at } = parsePart(part);
  const own = at === "in" ? "inputs and embeddings" : at === "after" ? "after the last layer" : `layer ${at}${head === undefined ? "" : `, head ${head}`}`;
  const all = `${STACKS[stack] ?? ""}${own}`;
  return all[0]!.toUpperCase() + all.slice(1);
}

/** What the panel says while nothing is open. */
function Hint({ opened, asks, head, part }: { opened: Opened; asks: number; head: number; part: string }) {
  const steps = stepsOf(opened, layerOf(part) === undefined ? partOr(opened, null) : part);
  const weights = steps.filter((step) => isWeights(step.name)).at(-1);
  const axis = weights?.axes.find(([one]) => one === "t" || one === "u")?.[0];
  const word = weights && axis && wordsAlong(opened, weights.name, axis)[asks];
  return (
    <>
      <p class="soft">Click a number to see its formula, arithmetic and terms here. Click any of those to go deeper, down to the weights.</p>
      {weights && axis && word !== undefined && (
        <p>
          Start with{" "}
          <Door id={cellId(weights.name, { head, [axis]: asks, s: 0 })}>
            how much {word} attends to {wordsAlong(opened, weights.name, "s")[0]}
          </Door>
        </p>
      )}
    </>
  );
}
