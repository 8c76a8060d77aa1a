// The spec as a form: a preset, its fields with their docs, or a pasted config.json.
import { useState } from "preact/hooks";
import { json, LabError } from "../shared/api";
import { change } from "../shared/place";
import { Fault } from "../shared/States";
import type { Derived, FieldRule, Fields } from "./types";
import { SIZES, written, type Words } from "./words";

const FIRST = ["d_model", "heads", "d_k", "d_v", "d_ff", "layers", "vocab", "positions", "norm", "position", "activation", "head", "classes"];
const SIZE_RULES: FieldRule[] = [
  { name: "t", doc: "tokens per input", kind: "whole", choices: [], optional: true, least: 1, most: 1e9 },
  { name: "batch", doc: "batch size: inputs processed together", kind: "whole", choices: [], optional: false, least: 1, most: 1e9 },
];

interface FormProps {
  known: Fields;
  words: Words;
  derived: Derived | undefined;
  error: LabError | undefined;
}

export function SpecForm({ known, words, derived, error }: FormProps) {
  const first = FIRST.flatMap((name) => known.fields.filter((rule) => rule.name === name));
  const others = known.fields.filter((rule) => !FIRST.includes(rule.name));
  const setOthers = others.filter((rule) => rule.name in words.fields).length;
  const shown = (rule: FieldRule) => <Field rule={rule} words={words} derived={derived} error={error} key={rule.name} />;
  const preset = known.presets.find((item) => item.name === words.name);
  const clear = Object.fromEntries([...known.fields.map((rule) => rule.name), ...SIZES].map((name) => [name, null]));
  return (
    <form class="spec" aria-label="spec" onSubmit={(event) => event.preventDefault()}>
      <label class="field preset">
        <span class="field-name">preset</span>
        <select
          name="spec"
          value={words.name}
          aria-describedby="preset-doc"
          onChange={(event) => change({ ...clear, spec: event.currentTarget.value, t: words.fields.t ?? null, at: null, open: null })}
        >
          {!preset && <option value={words.name}>{words.name}</option>}
          {known.presets.map((item) => (
            <option value={item.name}>{item.name}</option>
          ))}
        </select>
        <span class="field-doc" id="preset-doc">
          {preset?.doc ?? "a file"}
        </span>
      </label>
      {error && !(error.field && (known.fields.some((rule) => rule.name === error.field) || SIZES.includes(error.field))) && <Fault error={error} />}
      {SIZE_RULES.map(shown)}
      {first.map(shown)}
      <details open={others.some((rule) => rule.name === error?.field) || undefined}>
        <summary>
          {others.length} more fields{setOthers > 0 && `, ${setOthers} of them set`}
        </summary>
        {others.map(shown)}
      </details>
      <Paste clear={clear} />
      {Object.keys(words.fields).length > 0 && (
        <button type="button" onClick={() => change(clear)}>
          reset to {words.name}
        </button>
      )}
    </form>
  );
}

function Field({ rule, words, derived, error }: { rule: FieldRule; words: Words; derived: Derived | undefined; error: LabError | undefined }) {
  const given = words.fields[rule.name];
  const base = SIZES.includes(rule.name) ? String(derived?.[rule.name as "t" | "batch"] ?? "") : written(derived?.values.given[rule.name]);
  const auto = derived?.values.derived[rule.name];
  const bad = error?.field === rule.name;
  const id = `field-${rule.name}`;
  const set = (value: string, how: "push" | "replace") => change({ [rule.name]: value }, how);
  const choices = rule.kind === "yes_no" ? ["true", "false"] : rule.kind === "choice" ? [...rule.choices, ...(rule.optional && !rule.choices.includes("none") ? ["none"] : [])] : null;
  const common = { id, name: rule.name, "aria-describedby": `${id}-doc`, "aria-invalid": bad || undefined };
  return (
    <div class={given === undefined ? "field" : "field set"}>
      <label class="field-name mono" for={id} title={rule.doc}>
        {rule.name}
      </label>
      {choices ? (
        <select {...common} value={given ?? base} onChange={(event) => set(event.currentTarget.value, "push")}>
          {choices.map((choice) => (
            <option value={choice}>{choice === "none" && auto !== undefined ? `${written(auto)} (auto)` : choice}</option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          autocomplete="off"
          spellcheck={false}
          inputMode={rule.kind === "whole" ? "numeric" : rule.kind === "number" ? "decimal" : "text"}
          value={given ?? (auto === undefined ? base : "")}
          placeholder={auto === undefined ? undefined : `${written(auto)} (auto)`}
          onInput={(event) => set(event.currentTarget.value, "replace")}
        />
      )}
      <button type="button" class="quiet reset" aria-label={`reset ${rule.name}`} disabled={given === undefined} onClick={() => set("", "push")}>
        ↺
      </button>
      <span class="field-doc" id={`${id}-doc`}>
        {bad ? (
          <span class="field-bad" role="alert">
            {error.message}
          </span>
        ) : (
          rule.doc
        )}
      </span>
    </div>
  );
}

function Paste({ clear }: { clear: Record<string, null> }) {
  const [error, setError] = useState<LabError>();
  const [text, setText] = useState("");
  const read = async (next: string) => {
    setText(next);
    setError(undefined);
    if (!next.trim()) return;
    try {
      const found = await json<{ spec: string; fields: Record<string, unknown> }>("/api/bench/config", { text: next });
      const fields = Object.fromEntries(Object.entries(found.fields).map(([name, value]) => [name, written(value)]));
      change({ ...clear, ...fields, spec: found.spec, at: null, open: null });
    } catch (fault) {
      setError(fault as LabError);
    }
  };
  return (
    <details>
      <summary>paste a config.json</summary>
      <textarea
        rows={6}
        class="mono"
        spellcheck={false}
        aria-label="config.json"
        placeholder='{"model_type": "bert", "hidden_size": 768, …}'
        value={text}
        onInput={(event) => void read(event.currentTarget.value)}
      />
      <Fault error={error} />
    </details>
  );
}
