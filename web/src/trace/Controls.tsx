// What is traced: a model, and a sentence or an image.
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../shared/format";
import { change, query } from "../shared/place";
import type { Arrays } from "../shared/wire";
import { digitOf, Grey } from "./Picture";
import type { Models, Opened } from "./types";
import { FORGET } from "./where";

const NEW_MODEL = { ...FORGET, text: null, image: null, spec: null, seed: null, layer: null, head: null, step: null, view: null } as const;

export function Controls({ known, opened: value }: { known: Arrays<Models>; opened: Opened | undefined }) {
  const { models, first, given, random } = known.header;
  const model = query.value.get("model") || first;
  const listed = [...models.map((item) => item.name), ...given, "random"];
  return (
    <div class="trace-controls">
      <div>
      <label class="trace-model">
        <span>model</span>
        <select name="model" value={model} onChange={(event) => change({ ...NEW_MODEL, model: event.currentTarget.value })}>
          {models.map((item) => (
            <option value={item.name}>{item.title}</option>
          ))}
          {given.map((folder) => (
            <option value={folder}>{shortened(folder)}</option>
          ))}
          <option value="random">small random numbers (any spec)</option>
          {!listed.includes(model) && <option value={model}>{shortened(model)}</option>}
        </select>
      </label>
      {value && (
        <details class="note trace-about">
          <summary>
            {count(value.parameters)} parameters, {value.stacks.map(({ name, layers, heads }) => `${name ? `${name} ` : ""}${plural(layers, "layer")} × ${plural(heads, "head")}`).join(", ")}, {plural(value.t, "token")}: details
          </summary>
          <p>{value.about}</p>
        </details>
      )}
      </div>
      {model === "random" && <RandomSpec otherwise={random} />}
      {value?.reads === "image" ? <Images known={known} /> : <Sentence opened={value} />}
    </div>
  );
}

const plural = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;

/** The end of a path says more than its start. */
const shortened = (path: string): string => (path.split("/").length > 3 ? `…/${path.split("/").slice(-2).join("/")}` : path);

/** A box whose text counts when Enter is pressed, the button is clicked, or the box is left. */
function Box({ label, text, size, placeholder, onSet }: { label: string; text: string; size?: number; placeholder?: string; onSet: (text: string) => void }) {
  const [draft, setDraft] = useState(text);
  const typing = useRef(false); // what somebody is typing is not overwritten by an answer that comes late
  useEffect(() => {
    if (!typing.current) setDraft(text);
  }, [text]);
  const set = () => {
    typing.current = false;
    if (draft.trim() === "") setDraft(text);
    else if (draft !== text) onSet(draft);
  };
  return (
    <form
      class={size ? "trace-box short" : "trace-box"}
      onSubmit={(event) => {
        event.preventDefault();
        set();
      }}
    >
      <label>
        <span>{label}</span>
        <input
          size={size}
          value={draft}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            typing.current = true;
            setDraft(event.currentTarget.value);
          }}
          onBlur={set}
        />
      </label>
      {!size && (
        <button type="submit" class="primary" disabled={draft.trim() === "" || draft === text}>
          trace
        </button>
      )}
    </form>
  );
}

function Sentence({ opened }: { opened: Opened | undefined }) {
  const text = query.value.get("text") ?? opened?.text ?? "";
  const target = (opened?.stacks.length ?? 0) > 1;
  const others = (opened?.examples ?? []).filter((example) => example !== text);
  return (
    <div class="trace-sentence">
      <Box label={target ? "source" : opened?.reads === "vectors" ? "words" : "sentence"} text={text} onSet={(next) => change({ ...FORGET, text: next })} />
      {others.length > 0 && (
        <p class="note">
          or{" "}
          {others.map((example) => (
            <button type="button" class="quiet example" onClick={() => change({ ...FORGET, text: example })}>
              {example}
            </button>
          ))}
        </p>
      )}
      {target && <TargetBox read={opened!.target} />}
    </div>
  );
}

/** What the decoder reads: words, or, where none are given, what the model writes. */
function TargetBox({ read }: { read: string[] }) {
  const target = query.value.get("target") ?? "";
  const own = target !== "" || query.value.has("ids");
  return (
    <div class="trace-target">
      <Box label="target: what the decoder reads" text={target} placeholder={read.join(" ")} onSet={(next) => change({ ...FORGET, target: next })} />
      {own && (
        <button type="button" class="quiet" onClick={() => change(FORGET)}>
          start again
        </button>
      )}
    </div>
  );
}

const SPECS = [
  ["a decoder", "gpt2 d_model=8 heads=2 d_ff=16 layers=2 vocab=12"],
  ["an encoder-decoder", "transformer d_model=8 heads=2 d_ff=16 layers=1 vocab=20"],
] as const;

function RandomSpec({ otherwise }: { otherwise: string }) {
  const spec = query.value.get("spec") ?? otherwise;
  return (
    <div class="trace-random">
      <Box label="spec, as on the command line" text={spec} size={34} onSet={(next) => change({ ...FORGET, spec: next })} />
      <Box label="seed" text={query.value.get("seed") ?? "0"} size={4} onSet={(next) => change({ ...FORGET, seed: next })} />
      {SPECS.filter(([, words]) => words !== spec).map(([name, words]) => (
        <button type="button" class="quiet example" onClick={() => change({ ...NEW_MODEL, spec: words })}>
          try {name}
        </button>
      ))}
    </div>
  );
}

function Images({ known }: { known: Arrays<Models> }) {
  const chosen = query.value.get("image") ?? "0";
  return (
    <div class="trace-images" role="group" aria-label="image">
      {known.header.digits.map((digit, place) => (
        <button type="button" aria-pressed={String(place) === chosen} aria-label={`a ${digit}`} onClick={() => change({ ...FORGET, image: String(place) })}>
          <Grey pixels={digitOf(known.arrays.digits!, place)} side={32} />
        </button>
      ))}
      {chosen.startsWith("test:") && <p class="note">Below: row {chosen.slice("test:".length)} of the test data of digits.</p>}
    </div>
  );
}
