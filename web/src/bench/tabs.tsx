// The tabs below the diagram, each asking for what it shows when it is opened.
import { partColour } from "../shared/colours";
import { useAnswer } from "../shared/api";
import { Door } from "../shared/Door";
import { count } from "../shared/format";
import { Math, useFonts } from "../shared/Math";
import { useParam } from "../shared/place";
import { Empty, Shown } from "../shared/States";
import { toNumber } from "../shared/wire";
import { Exports } from "./Exports";
import type { Bridge, Equations, Preset, Shapes as ShapesOf } from "./types";
import { parseWords, written, type Asked } from "./words";

export function Shapes({ asked }: { asked: Asked }) {
  const answer = useAnswer<ShapesOf>("/api/bench/shapes", asked);
  return (
    <Shown answer={answer}>
      {({ rows, left_out }) => (
        <>
          <Exports view="shapes" asked={asked} />
          {left_out > 0 && <p class="note">Identical layers are shown once; {count(left_out)} more tensors have the same shapes.</p>}
          <div class="wide">
            <table class="rows">
              <thead>
                <tr>
                  <th scope="col">tensor</th>
                  <th scope="col">shape</th>
                  <th scope="col" class="number">
                    elements
                  </th>
                  {["axes", "one head", "role"].map((title) => (
                    <th scope="col">{title}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.name}>
                    <td>
                      <span class="dot" style={{ background: partColour(row.part) }} />
                      <span class="mono">{row.name}</span>
                    </td>
                    <td>{row.shape.join(" × ") || "1"}</td>
                    <td class="number">
                      {row.role === "input" ? (
                        count(row.elements)
                      ) : (
                        <Door id={row.name} label={`${row.name}: ${count(row.elements)}`}>
                          {count(row.elements)}
                        </Door>
                      )}
                    </td>
                    <td>{row.formula}</td>
                    <td>{row.one_head?.join(" × ") ?? ""}</td>
                    <td class="soft">{row.role}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Shown>
  );
}

export function EquationsTab({ asked }: { asked: Asked }) {
  const answer = useAnswer<Equations>("/api/bench/notation", asked);
  return (
    <Shown answer={answer}>
      {({ sections }) => (
        <>
          <Exports view="equations" asked={asked} />
          <Written sections={sections} />
        </>
      )}
    </Shown>
  );
}

function Written({ sections }: { sections: Equations["sections"] }) {
  const drawn = useFonts();
  return (
    <div class={drawn ? "" : "unready"}>
      {sections.map((section) => (
        <section class="equations" key={section.title}>
          <h2>{section.title}</h2>
          {section.equations.map((equation) => (
            <div class="equation" key={equation.number}>
              <Door id={equation.name} label={`equation ${equation.number}: ${equation.name}`} class="soft">
                ({equation.number})
              </Door>
              <span class="equation-body" style={{ borderColor: partColour(equation.part) }}>
                <Math latex={`${equation.left} = ${equation.right}`} />
              </span>
              <span class="soft equation-shape" title={equation.name}>
                {equation.shape}
              </span>
            </div>
          ))}
        </section>
      ))}
    </div>
  );
}

export function Compare({ asked, presets }: { asked: Asked; presets: Preset[] }) {
  const [against, setAgainst] = useParam("against");
  const answer = useAnswer<Bridge>(against.trim() ? "/api/bench/bridge" : null, { left: parseWords(against), right: asked.spec });
  return (
    <>
      <label class="against">
        compare with{" "}
        <input
          list="presets"
          class="mono"
          name="against"
          spellcheck={false}
          autocomplete="off"
          value={against}
          placeholder="bert-base head=mlm"
          onInput={(event) => setAgainst(event.currentTarget.value, "replace")}
        />
      </label>
      <datalist id="presets">
        {presets.map((preset) => (
          <option value={preset.name}>{preset.doc}</option>
        ))}
      </datalist>
      {against.trim() ? (
        <Shown answer={answer}>
          {(bridge) => (
            <>
              <Exports view="compare" asked={{ ...asked, against: parseWords(against) }} />
              <BridgeView bridge={bridge} />
            </>
          )}
        </Shown>
      ) : (
        <>
          <p class="try">
            Try{" "}
            {tries(asked.spec.name).map((words, turn) => (
              <>
                {turn > 0 && ", "}
                <button type="button" class="quiet mono" onClick={() => setAgainst(words)}>
                  {words}
                </button>
              </>
            ))}
          </p>
          <Empty>Enter another encoder: a preset, then fields, as on the command line. The table shows line by line why the two parameter counts differ.</Empty>
        </>
      )}
    </>
  );
}

/** Comparisons that teach something: an older relative, a newer one, and this preset itself, as it was before it was changed. */
const tries = (name: string): string[] => [...new Set([name, "bert-base", "bert-large", "modernbert-base", "albert-base"])].slice(0, 4);

const signed = (value: number | string) => (toNumber(value) > 0 ? `+${count(value)}` : count(value));

function BridgeView({ bridge }: { bridge: Bridge }) {
  return (
    <>
      <p>
        {bridge.left.label} has {count(bridge.left.total)} parameters, {bridge.right.label} has {count(bridge.right.total)}: {signed(bridge.total)}.
      </p>
      {bridge.fields.length > 0 && (
        <div class="wide">
          <table class="rows fields-apart">
            <thead>
              <tr>
                <th scope="col">field</th>
                <th scope="col">{bridge.left.label}</th>
                <th scope="col">{bridge.right.label}</th>
              </tr>
            </thead>
            <tbody>
              {bridge.fields.map((field) => (
                <tr key={field.name}>
                  <td class="mono">{field.name}</td>
                  <td>{written(field.left)}</td>
                  <td>{written(field.right)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {bridge.rows.length === 0 ? (
        <Empty>No line differs.</Empty>
      ) : (
        <div class="wide">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">tensor</th>
                <th scope="col" class="number">
                  difference
                </th>
                <th scope="col">{bridge.left.label}</th>
                <th scope="col">{bridge.right.label}</th>
              </tr>
            </thead>
            <tbody>
              {bridge.rows.map((row) => (
                <tr key={row.name}>
                  <td>
                    <span class="dot" style={{ background: partColour(row.part) }} />
                    <span class="mono">{row.name}</span>
                  </td>
                  <td class="number">
                    <Door id={row.name}>{signed(row.difference)}</Door>
                  </td>
                  <td>{row.left.numbers ?? "–"}</td>
                  <td>{row.right.numbers ?? "–"}</td>
                </tr>
              ))}
              <tr class="total">
                <td>difference</td>
                <td class="number">{signed(bridge.total)}</td>
                <td colSpan={2} />
              </tr>
            </tbody>
          </table>
        </div>
      )}
      <p class="note">{count(bridge.unchanged)} parameters are in lines that are the same in both.</p>
    </>
  );
}
