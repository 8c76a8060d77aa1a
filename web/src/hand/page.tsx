// By hand: a sheet of small matrices, worked step by step, every number open.
import { useAnswer } from "../shared/api";
import { Panel } from "../shared/Panel";
import { change, query, useParam } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import { labels, Opened } from "./Opened";
import { Own } from "./Own";
import { Sheet } from "./Sheet";
import { askedBy, emptySheet } from "./texts";
import { Steps } from "./Steps";
import type { Examples, Worked } from "./types";

const FIRST = "flying-vectors";
const LONGEST = 15_000; // letters of an address that the server still takes

export default function Hand() {
  const known = useAnswer<Examples>("/api/hand/examples");
  return (
    <>
      <h1>Work a small problem step by step, as on paper</h1>
      {known.value ? <Worksheet known={known.value} /> : known.error ? <Fault error={known.error} /> : <Progress />}
    </>
  );
}

function Worksheet({ known }: { known: Examples }) {
  const [name] = useParam("example", FIRST);
  const [kind] = useParam("kind", "attention");
  const base = known.examples.find((item) => item.name === name) ?? emptySheet(known.kinds.some((item) => item.kind === kind) ? kind : "attention");
  const asked = askedBy(query.value, base);
  const answer = useAnswer<Worked>("/api/hand/work", asked);
  const worked = answer.value;
  const misfit = worked?.fault?.misfit;
  const named = labels(worked?.page);
  return (
    <div class="hand">
      <nav class="hand-examples" aria-label="examples">
        <h2>Examples</h2>
        <ul>
          {[...known.examples.map((item) => [item.name, item.title, item.about] as const), ["empty", "Empty sheet", "enter your own numbers"] as const].map(([id, title, about]) => (
            <li key={id}>
              <button type="button" aria-current={id === base.name ? "true" : undefined} title={title} onClick={() => open(id)}>
                <span>{id === "empty" ? title : SHORT[id] ?? title}</span>
                <span class="note">{about}</span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div class="hand-main">
        <Sheet base={base} asked={asked} kinds={known.kinds} blamed={misfit ? [misfit.left, misfit.right] : []} />
        {query.value.toString().length > LONGEST && <p class="note">This sheet is too large for the page address: links and reloads lose it. Save it as a problem file.</p>}
        {base.note && <p class="note hand-note">{base.note}</p>}
        <Fault error={answer.error} note={worked ? "Below: the last valid sheet." : undefined} />
        {!worked && answer.waiting && <Progress />}
        {worked && (
          <div class={answer.error ? "hand-work stale" : "hand-work"}>
            <div class="hand-wait">{answer.waiting && <Progress />}</div>
            <Steps worked={worked} asked={asked} name={base.name} key={base.name} />
            {worked.page && !worked.fault && <Own asked={asked} names={worked.page.names} key={base.name} />}
          </div>
        )}
      </div>
      <Panel title={(id) => named.get(id) ?? id} empty={<p class="soft">Click a number to see how it is computed, down to the values you entered.</p>}>
        {(id) => <Opened id={id} asked={asked} />}
      </Panel>
    </div>
  );
}

const SHORT: Record<string, string> = {
  "flying-vectors": "flying arrows",
  flying: "flying arrows, from embeddings",
  tom: "Tom a été entarté cet été",
  "multi-head": "two heads",
  causal: "causal mask",
  columns: "columns",
  "cross-attention": "cross-attention",
  additive: "additive attention",
  softmax: "softmax",
  "layer-norm": "LayerNorm",
  positions: "positions",
  ffn: "feed-forward",
  "encoder-layer": "encoder layer",
  misfit: "shapes that do not match",
};

function open(example: string): void {
  change({ example: example === FIRST ? null : example, kind: null, title: null, given: null, set: null, at: null, claim: null, try: null });
}
