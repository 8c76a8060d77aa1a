// The spec as a form: a preset, its fields with their docs, or a pasted config.json.
import { useEffect, useRef, useState } from "preact/hooks";
import { json, LabError } from "../shared/api";
import { exported } from "../shared/exported";
import { change } from "../shared/place";
import { Fault } from "../shared/States";
import type { Derived, FieldRule, Fields, Kind } from "./types";
import { IN_STACK, SIZES, written, type Words } from "./words";

const FIRST = ["d_model", "heads", "d_k", "d_v", "d_ff", "layers", "vocab", "positions", "norm", "position", "activation", "head", "classes"];
const SIZE_RULES: FieldRule[] = [
  { name: "t", doc: "tokens per input", kind: "whole", choices: [], optional: true, least: 1, most: 1e9 },
  { name: "u", doc: "tokens of the target, which the decoder reads", kind: "whole", choices: [], optional: true, least: 1, most: 1e9 },
  { name: "batch", doc: "batch size: inputs processed together", kind: "whole", choices: [], optional: false, least: 1, most: 1e9 },
];

const KINDS: Kind[] = ["encoder", "decoder", "encoder-decoder"];

interface FormProps {
  known: Fields;
  words: Words;
  derived: Derived | undefined;
  error: LabError | undefined;
}

export function SpecForm({ known, words, derived, error }: FormProps) {
  const [opened, open] = useState<string[]>([]);
  const [sought, seek] = useState("");
  // What this kind of model has: a decoder has fields that an encoder lacks, and an encoder-decoder a second length.
  const has = (rule: FieldRule) => !derived || (rule.name === "u" ? derived.u !== null : SIZES.includes(rule.name) || rule.name in derived.values.given);
  const own = Object.keys(words.fields).filter((name) => IN_STACK.test(name)).map((name) => ({ ...known.fields.find((rule) => name.endsWith(`.${rule.name}`))!, name }));
  const rules = [...[...SIZE_RULES, ...known.fields].filter((rule) => has(rule) || rule.name in words.fields), ...own.filter((rule) => rule.kind)];
  const found = sought.trim() ? matching(rules, sought) : [];
  const stands = (rule: FieldRule) => rule.name in words.fields || opened.includes(rule.name) || rule.name === error?.field;
  const preset = known.presets.find((item) => item.name === words.name);
  const clear = Object.fromEntries([...known.fields.map((rule) => rule.name), ...Object.keys(words.fields), ...SIZES].map((name) => [name, null]));
  const shown = (rule: FieldRule) => <Field rule={rule} words={words} derived={derived} error={error} focus={opened.at(-1) === rule.name} key={rule.name} />;
  const choose = (name: string) => {
    open([]);
    change({ ...clear, spec: name, t: words.fields.t ?? null, at: null, open: null });
  };
  return (
    <form class="spec" aria-label="spec" onSubmit={(event) => event.preventDefault()}>
      <label class="field preset">
        <span class="field-name">preset</span>
        <select name="spec" value={words.name} aria-describedby="preset-doc" onChange={(event) => choose(event.currentTarget.value)}>
          {!preset && <option value={words.name}>{words.name}</option>}
          {KINDS.map((kind) => {
            const items = known.presets.filter((item) => item.kind === kind);
            return (
              items.length > 0 && (
                <optgroup label={`${kind}s`}>
                  {items.map((item) => (
                    <option value={item.name}>{item.name}</option>
                  ))}
                </optgroup>
              )
            );
          })}
        </select>
        <span class="field-doc" id="preset-doc">
          {preset?.doc ?? "a file"}
        </span>
      </label>
      {error && !rules.some((rule) => rule.name === error.field) && <Fault error={error} />}
      {exported ? (
        <p class="note">This page shows presets as they are. To change a field, install Glassformer and run <code>glassformer lab</code>.</p>
      ) : derived || error ? ( // with the values of the fields, whose width decides how many stand in a row
        <>
          {rules.filter((rule) => stands(rule) && !found.includes(rule)).map(shown)}
          <p class="field-chips" role="group" aria-label="fields">
            {rules
              .filter((rule) => (SIZES.includes(rule.name) || FIRST.includes(rule.name)) && !stands(rule))
              .map((rule) => (
                <button type="button" class="quiet mono" title={rule.doc} onClick={() => open([...opened, rule.name])} key={rule.name}>
                  <span>{rule.name}</span> <span class="field-value">{valueOf(rule.name, derived)}</span>
                </button>
              ))}
          </p>
          <input type="search" aria-label="find a field" placeholder={`find one of ${rules.length} fields`} value={sought} onInput={(event) => seek(event.currentTarget.value)} />
          {found.map(shown)}
          {sought.trim() && found.length === 0 && <p class="note">No field has this in its name or explanation.</p>}
          <Paste clear={clear} />
          {Object.keys(words.fields).length > 0 && (
            <button type="button" onClick={() => choose(words.name)}>
              reset to {words.name}
            </button>
          )}
        </>
      ) : null}
    </form>
  );
}

const MOST_FOUND = 8;

/** Fields with every word of a search in their name or explanation; those that begin with it first. */
export function matching(rules: FieldRule[], sought: string): FieldRule[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const all = rules.filter((rule) => words.every((word) => `${rule.name} ${rule.doc} ${rule.choices.join(" ")}`.toLowerCase().includes(word)));
  const rank = (rule: FieldRule) => (rule.name.startsWith(words[0]!) ? 0 : rule.name.includes(words[0]!) ? 1 : 2);
  return all.sort((one, other) => rank(one) - rank(other)).slice(0, MOST_FOUND);
}

/** What a field comes to, as it is written. */
function valueOf(name: string, derived: Derived | undefined): string {
  if (!derived) return "";
  return SIZES.includes(name) ? String(derived[name as "t" | "u" | "batch"]) : written(derived.values.derived[name] ?? derived.values.given[name]);
}

interface FieldProps extends Omit<FormProps, "known"> {
  rule: FieldRule;
  focus: boolean; // it was opened last
}

function Field({ rule, words, derived, error, focus }: FieldProps) {
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus) own.current?.querySelector<HTMLElement>("input, select")?.focus();
  }, [focus]);
  const given = words.fields[rule.name];
  const base = SIZES.includes(rule.name) ? String(derived?.[rule.name as "t" | "u" | "batch"] ?? "") : written(derived?.values.given[rule.name]);
  const auto = derived?.values.derived[rule.name];
  const bad = error?.field === rule.name;
  const id = `field-${rule.name}`;
  const set = (value: string, how: "push" | "replace") => change({ [rule.name]: value }, how);
  const choices = rule.kind === "yes_no" ? ["true", "false"] : rule.kind === "choice" ? [...rule.choices, ...(rule.optional && !rule.choices.includes("none") ? ["none"] : [])] : null;
  const common = { id, name: rule.name, "aria-describedby": `${id}-doc`, "aria-invalid": bad || undefined };
  return (
    <div class={given === undefined ? "field" : "field set"} ref={own}>
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
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const text = await configIn(event.dataTransfer);
    if (text === null) setError(new LabError("there is no config.json or spec.json in what was dropped: drop the file, or the folder that holds it."));
    else await read(text);
  };
  return (
    <details onDragOver={(event) => event.preventDefault()} onDrop={(event) => void drop(event)}>
      <summary>paste a config.json, or drop a folder here</summary>
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

const CONFIGS = ["config.json", "spec.json"];

/** The text of the config among dropped files, or in a dropped folder; nothing else is read. */
async function configIn(dropped: DataTransfer | null): Promise<string | null> {
  const entries = [...(dropped?.items ?? [])].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const inside = await Promise.all(entries.map((entry) => (entry.isDirectory ? listed(entry as FileSystemDirectoryEntry) : [entry])));
  const files = inside.flat().filter((entry) => entry.isFile) as FileSystemFileEntry[];
  const found = CONFIGS.flatMap((name) => files.filter((entry) => entry.name === name))[0] ?? files.filter((entry) => entry.name.endsWith(".json") && files.length === 1)[0];
  return found ? new Promise((done, failed) => found.file((file) => done(file.text()), failed)) : null;
}

const listed = (folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> => new Promise((done, failed) => folder.createReader().readEntries(done, failed));
