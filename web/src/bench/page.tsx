// Bench: a spec, and all that follows from it, derived again at every keystroke.
import { useAnswer } from "../shared/api";
import { Door } from "../shared/Door";
import { exported } from "../shared/exported";
import { brief, bytes, count } from "../shared/format";
import { Panel } from "../shared/Panel";
import { query, useParam } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import { Switch } from "../shared/Switch";
import { Tabs, type Tab } from "../shared/Tabs";
import { BlockPanel, findBlock } from "./BlockPanel";
import { CostTab } from "./CostTab";
import { Diagram, LineKey, openedIn } from "./Diagram";
import { Exports, TABLE } from "./Exports";
import { Icicle, LedgerTable } from "./Ledger";
import { SpecForm } from "./SpecForm";
import { Compare, EquationsTab, Shapes } from "./tabs";
import type { Derived, Fields } from "./types";
import { wordsOf, type Asked } from "./words";

export default function Bench() {
  const known = useAnswer<Fields>("/api/bench/fields");
  if (!known.value) return known.error ? <Fault error={known.error} /> : <Progress />;
  return <Derivation known={known.value} />;
}

function Derivation({ known }: { known: Fields }) {
  const words = wordsOf(query.value, known.fields.map((rule) => rule.name));
  const [convention, setConvention] = useParam("convention", "rows");
  const asked: Asked = { spec: words, convention };
  const open = exported ? null : openedIn(query.value); // an export has each diagram once
  const answer = useAnswer<Derived>("/api/bench/derive", { ...asked, open });
  const { error } = answer;
  // An address that never worked has no last good picture: its preset stands in.
  const standIn = useAnswer<Derived>(error && !answer.value ? "/api/bench/derive" : null, { spec: { name: words.name, fields: {} }, convention, open });
  const derived = answer.value ?? standIn.value;
  return (
    <>
      <h1>Count the parameters, shapes and cost of any Transformer</h1>
      <div class="bench">
        <SpecForm known={known} words={words} derived={derived} error={error} />
        {derived && (
          <div class={error ? "result stale" : "result"}>
            <Totals derived={derived} stale={Boolean(error)} />
            <div class="picture">
              <div class="drawn">
                <div class="tab-head">
                  <Switch
                    label="convention"
                    value={convention}
                    choices={[
                      ["rows", "tokens as rows"],
                      ["columns", "as columns"],
                    ]}
                    onChange={setConvention}
                  />
                  <Exports view="diagram" forms={["svg", "html", "json"]} asked={asked} />
                </div>
                <Diagram derived={derived} />
                <LineKey derived={derived} />
              </div>
              <div class="beside">
                <Panel title={(id) => findBlock(derived, id)?.name ?? NAMES[id] ?? id} empty={<p class="soft">Click a block or a number to see its details here.</p>}>
                  {(id) => <BlockPanel id={id} derived={derived} />}
                </Panel>
                <Tabs label="views" tabs={viewsOf(asked, derived, known)} />
              </div>
            </div>
          </div>
        )}
        {!derived && answer.waiting && <Progress />}
      </div>
    </>
  );
}

/** Every view but the diagram; an export has no second encoder to compare with. */
function viewsOf(asked: Asked, derived: Derived, known: Fields): Tab[] {
  const ledger = () => (
    <>
      <Exports view="ledger" forms={[...TABLE, "svg"]} asked={asked} />
      <Icicle derived={derived} />
      <LedgerTable lines={derived.lines} total={derived.total} />
    </>
  );
  const views: Tab[] = [
    { id: "ledger", title: "Ledger", content: ledger },
    { id: "shapes", title: "Shapes", content: () => <Shapes asked={asked} /> },
    { id: "cost", title: "Cost", content: () => <CostTab asked={asked} derived={derived} /> },
    { id: "equations", title: "Equations", content: () => <EquationsTab asked={asked} /> },
  ];
  return exported ? views : [...views, { id: "compare", title: "Compare", content: () => <Compare asked={asked} presets={known.presets} /> }];
}

const NAMES: Record<string, string> = { cost: "FLOPs of a forward pass", parameters: "all parameters", memory: "memory of a forward pass" };

function Totals({ derived, stale }: { derived: Derived; stale: boolean }) {
  return (
    <div class="totals">
      <p class="big-number" aria-live="polite">
        <Door id="parameters" label={`${count(derived.total)} parameters`}>
          <span data-testid="total">{count(derived.total)}</span>
        </Door>{" "}
        <span class="soft">parameters</span>
      </p>
      <p>
        <Door id="cost">{brief(derived.flops)} FLOPs</Door> ({brief(derived.multiply_adds)} multiply-adds) forward at batch {derived.batch}, {count(derived.t)} tokens{derived.u !== null && ` of the source, ${count(derived.u)} of the target`} ·{" "}
        <Door id="memory">{bytes(derived.memory.weights)}</Door> of float32 weights
      </p>
      <p class="note">
        <span class="mono">{derived.label}</span> · {stale ? "showing the last valid encoder; the error is under the field in red" : derived.convention}
      </p>
    </div>
  );
}
