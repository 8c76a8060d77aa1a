// The sheet: choices at the top, then the matrices, each with cells to type in; rows and columns come and go.
import { useState } from "preact/hooks";
import { json, LabError } from "../shared/api";
import { Matrix } from "../shared/Matrix";
import { change } from "../shared/place";
import { Fault } from "../shared/States";
import { difference, emptySheet, placed, toCells, toText } from "./texts";
import type { Asked } from "./asked";
import type { Example, KindDocument, SheetDocument } from "./types";

const KIND_NAMES: Record<string, string> = {
  attention: "attention", encoder_layer: "encoder layer", softmax: "softmax", layer_norm: "LayerNorm", rms_norm: "RMSNorm", ffn: "feed-forward block",
  activation: "activation", positions: "positions", rotary: "rotary positions", linear: "linear map", product: "matrix product",
};
const FIRST: Record<string, string[]> = {
  attention: ["alignment", "distribution", "scale", "convention"],
  encoder_layer: ["alignment", "distribution", "scale", "convention", "norm", "activation"],
  softmax: ["distribution", "temperature"],
  layer_norm: ["eps", "variance", "eps_place"],
  rms_norm: ["eps", "eps_place"],
  ffn: ["activation", "convention"],
  activation: ["activation"],
  positions: ["positions", "d_model", "layout", "base"],
  rotary: ["positions", "pairs", "base"],
  linear: ["activation", "convention"],
  product: [],
};
const USUAL: Record<string, string> = {
  alignment: "scaled_dot", distribution: "softmax", scale: "d_k", convention: "rows", variance: "biased", eps_place: "inside", eps: "0", temperature: "1",
  layout: "interleaved", pairs: "neighbours", base: "10000", norm_kind: "layer", heads: "1", query: "all",
};
const MORE: Record<string, string[]> = { scale: ["d_k", "d_model", "none", "2", "4", "8"], causal: ["true", "false"], residual: ["true", "false"] };
const SAYS: Record<string, string> = {
  alignment: "how a query is compared with a key",
  distribution: "how scores become weights",
  scale: "the scores are divided by the square root of this size, or by this number",
  convention: "tokens as rows (x W) or as columns (W x)",
  heads: "number of heads that the matrices are split into",
  query: "a single query token, by name or by number",
  tokens: "names of the rows",
  ask: "show only the steps needed for these results",
};

interface SheetProps {
  base: Example;
  asked: Asked;
  kinds: KindDocument[];
  blamed: string[]; // matrices of the product that does not fit
}

export function Sheet({ base, asked, kinds, blamed }: SheetProps) {
  const kind = kinds.find((item) => item.kind === asked.kind);
  const setGiven = (given: Record<string, string>, how: "push" | "replace") => change({ given: difference(base.given, given) }, how);
  const set = (name: string, text: string, how: "push" | "replace" = "replace") => setGiven({ ...asked.given, [name]: text }, how);
  const drop = (name: string) => setGiven(Object.fromEntries(Object.entries(asked.given).filter(([own]) => own !== name)), "push");
  const choose = (name: string, text: string, how: "push" | "replace") => {
    const choices = { ...asked.choices, [name]: text };
    if (!text) delete choices[name];
    change({ set: difference(base.choices, choices) }, how);
  };
  const first = FIRST[asked.kind] ?? [];
  const shown = [...first, ...Object.keys(asked.choices).filter((name) => !first.includes(name))];
  const others = (kind?.choices ?? []).filter((item) => !shown.includes(item.name) && !["gamma", "norm_1", "norm_2", "ffn"].includes(item.name));
  const said = (name: string): string => {
    const value = asked.choices[name] || USUAL[name] || "";
    return value && (name === "scale" ? value.replace(/^d_/, "√d_") : ["alignment", "distribution", "convention", "norm", "activation"].includes(name) ? value.replace(/_/g, " ") : `${name.replace(/_/g, " ")} ${value}`);
  };
  const field = (name: string) => (
    <Choice name={name} choices={MORE[name] ?? kind?.choices.find((item) => item.name === name)?.choices ?? []} value={asked.choices[name] ?? ""} onChange={(text, how) => choose(name, text, how)} key={name} />
  );
  return (
    <form class="hand-sheet" aria-label="sheet" onSubmit={(event) => event.preventDefault()}>
      <div class="hand-choices">
        <label class="hand-choice">
          <span>problem</span>
          <select name="kind" value={asked.kind} onChange={(event) => change({ example: "empty", kind: event.currentTarget.value, given: null, set: null, title: null, at: null, claim: null })}>
            {kinds.map((item) => (
              <option value={item.kind}>{KIND_NAMES[item.kind] ?? item.kind}</option>
            ))}
          </select>
        </label>
      </div>
      <details class="hand-others" open={Object.keys(asked.choices).some((name) => asked.choices[name] !== base.choices[name]) || undefined}>
        <summary>
          choices: <span class="soft">{[...shown.map(said), `${asked.digits} decimals`].filter(Boolean).join(" · ")}</span>
        </summary>
        <div class="hand-choices">
          {shown.map(field)}
          <label class="hand-choice">
            <span>decimals shown</span>
            <input type="number" min={0} max={15} name="digits" value={asked.digits} onInput={(event) => change({ digits: event.currentTarget.value === "4" ? null : event.currentTarget.value }, "replace")} />
          </label>
          <label class="hand-choice" title="round every intermediate result to this many decimals, as with a pocket calculator">
            <span>rounding</span>
            <select name="rounded" value={asked.rounded ?? ""} onChange={(event) => change({ rounded: event.currentTarget.value || null })}>
              <option value="">none</option>
              {[1, 2, 3, 4, 5, 6].map((count) => (
                <option value={count}>{count} decimals</option>
              ))}
            </select>
          </label>
        </div>
        {others.length > 0 && <div class="hand-choices">{others.map((item) => field(item.name))}</div>}
      </details>
      <div class="hand-matrices">
        {Object.entries(asked.given).map(([name, text]) => (
          <Given name={name} text={text} tokens={name.toLowerCase() === "x" ? (asked.choices.tokens ?? "").split(/\s+/) : []} bad={blamed.includes(name) || blamed.includes(name.toLowerCase())} onChange={(next, how) => set(name, next, how)} onDrop={() => drop(name)} key={name} />
        ))}
      </div>
      <AddMatrix names={(kind?.matrices ?? []).filter((name) => !Object.keys(asked.given).some((own) => own.toLowerCase() === name.toLowerCase()))} onAdd={(name) => set(name, "0 0; 0 0", "push")} />
      <Paste />
    </form>
  );
}

function Choice({ name, choices, value, onChange }: { name: string; choices: string[]; value: string; onChange: (text: string, how: "push" | "replace") => void }) {
  const usual = USUAL[name] ?? "";
  const listed = choices.includes(value) || value === "" ? choices : [...choices, value];
  return (
    <label class={value ? "hand-choice set" : "hand-choice"} title={SAYS[name]}>
      <span>{name.replace(/_/g, " ")}</span>
      {choices.length > 0 ? (
        <select name={name} value={value || usual} onChange={(event) => onChange(event.currentTarget.value === usual ? "" : event.currentTarget.value, "push")}>
          {usual === "" && <option value="">default</option>}
          {listed.map((choice) => (
            <option value={choice}>{name === "scale" ? choice.replace(/^d_/, "√d_") : choice.replace(/_/g, " ")}</option>
          ))}
        </select>
      ) : (
        <input name={name} autocomplete="off" spellcheck={false} value={value} placeholder={usual} onInput={(event) => onChange(event.currentTarget.value, "replace")} />
      )}
    </label>
  );
}

function Given({ name, text, tokens, bad, onChange, onDrop }: { name: string; text: string; tokens: string[]; bad: boolean; onChange: (text: string, how: "push" | "replace") => void; onDrop: () => void }) {
  const found = toCells(text);
  if (!found) {
    return (
      <div class={bad ? "matrix blamed" : "matrix"}>
        <label>
          <span class="matrix-name">{name}</span>
          <input class="hand-words" name={name} spellcheck={false} autocomplete="off" value={text} onInput={(event) => onChange(event.currentTarget.value, "replace")} />
        </label>
        <span class="matrix-size">
          <button type="button" class="quiet" onClick={() => onChange("0 0; 0 0", "push")}>
            edit as cells
          </button>
          <button type="button" class="quiet" aria-label={`remove ${name}`} onClick={onDrop}>
            ✕
          </button>
        </span>
      </div>
    );
  }
  return (
    <div class={bad ? "hand-given blamed" : "hand-given"}>
      <Matrix
        name={name}
        size={found.vector ? `${found.cells[0]!.length} numbers` : undefined}
        cells={found.cells}
        rowLabels={found.labels ?? (tokens.length === found.cells.length && !found.vector ? tokens : undefined)}
        bad={(row, column) => !/\d|inf|∞|true|false/i.test(found.cells[row]?.[column] ?? "")}
        onChange={(cells) => onChange(toText(placed(name, cells, found)), "replace")}
        onRowLabel={found.labels === null ? undefined : (row, label) => onChange(toText({ ...found, labels: found.labels!.map((own, place) => (place === row ? label.replace(/[;:|]/g, "") : own)) }), "replace")}
        onTranspose={found.vector || found.labels ? undefined : () => onChange(toText({ cells: turned(found.cells), labels: null, vector: false }), "push")}
        onDrop={onDrop}
      />
    </div>
  );
}

/** Rows as columns; what a shorter row lacks is empty. */
const turned = (cells: string[][]): string[][] => Array.from({ length: Math.max(...cells.map((row) => row.length)) }, (_, column) => cells.map((row) => row[column] ?? ""));

function AddMatrix({ names, onAdd }: { names: string[]; onAdd: (name: string) => void }) {
  if (!names.length) return null;
  return (
    <label class="hand-add">
      <span class="note">add</span>
      <select name="add" value="" onChange={(event) => event.currentTarget.value && onAdd(event.currentTarget.value)}>
        <option value="">a vector or matrix …</option>
        {names.map((name) => (
          <option value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Paste() {
  const [error, setError] = useState<LabError>();
  const [text, setText] = useState("");
  const read = async (next: string) => {
    setText(next);
    setError(undefined);
    if (!next.trim()) return;
    try {
      const found = await json<SheetDocument>("/api/hand/read", { text: next });
      const base = emptySheet(found.kind);
      change({ example: "empty", kind: found.kind, title: found.title, given: difference(base.given, found.given), set: difference(base.choices, found.choices), at: null, claim: null });
    } catch (fault) {
      setError(fault as LabError);
    }
  };
  return (
    <details class="hand-paste">
      <summary>paste a problem file (TOML or JSON)</summary>
      <textarea rows={6} class="mono" spellcheck={false} aria-label="problem file" placeholder={"Q = [[2, 0], [0, 2]]\nK = [[0, 2], [2, 0]]\nV = [[1], [3]]"} value={text} onInput={(event) => void read(event.currentTarget.value)} />
      <Fault error={error} />
    </details>
  );
}
