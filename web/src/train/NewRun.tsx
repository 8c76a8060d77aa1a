// A new run: data with five rows of it, a spec, epochs, settings. All of it is in the address.
import { useEffect, useRef, useState } from "preact/hooks";
import { json, LabError, useAnswer } from "../shared/api";
import type { Rgb } from "../shared/colours";
import { count } from "../shared/format";
import { Pixels } from "../shared/Pixels";
import { change, query, useParam } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import { toNumber, type WireNumber } from "../shared/wire";
import type { Options, Sample, Setting } from "./types";
import { namesFor } from "./words";

const SET = "set-"; // before a setting's name in the address: some fields of a spec have the same name
const TASKS: Record<string, string> = { classify: "labelled training texts", image: "labelled training images", tag: "training sentences with word labels", mlm: "training texts (masked-token prediction)" };

interface NewRunProps {
  options: Options;
  onStarted: (names: string[]) => void;
}

export function NewRun({ options, onStarted }: NewRunProps) {
  const [data, setData] = useParam("data", "digits");
  const [text] = useParam("text");
  const [label] = useParam("label");
  const [spec, setSpec] = useParam("spec");
  const [epochs, setEpochs] = useParam("epochs", "10");
  const [name, setName] = useState("");
  const [error, setError] = useState<LabError>();
  const [waiting, setWaiting] = useState(false);
  const key = useRef("");
  const own = options.own.includes(data);
  const known = options.sets.find((one) => one.name === data);
  const at = query.value;
  const fields = chosenOf(options.fields.map((field) => field.name), (field) => at.get(field));
  const settings = chosenOf(options.settings.map((setting) => setting.name), (setting) => at.get(SET + setting));
  const body = { data, text: own ? text : "", label: own ? label : "", spec, epochs, fields, settings, name };
  const written = JSON.stringify(body);
  useEffect(() => {
    key.current = "";
    setError(undefined);
  }, [written]);
  const start = async () => {
    if (waiting) return;
    setWaiting(true);
    setError(undefined);
    key.current ||= `${Date.now()}-${Math.random()}`; // asked twice with one key, it is started once
    try {
      const { run } = await json<{ run: string }>("/api/train/start", { ...body, key: key.current });
      key.current = "";
      setName("");
      onStarted(namesFor(run, epochs));
    } catch (fault) {
      setError(fault as LabError);
    }
    setWaiting(false);
  };
  const bad = (field: string) => error?.message.startsWith(`${field}=`) || undefined;
  return (
    <section class="train-new" aria-labelledby="new-title">
      <h2 id="new-title">New run</h2>
      {options.missing && <p class="fault">{options.missing} Everything else in the lab works without it.</p>}
      <form
        class="spec"
        aria-label="new run"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label class="field preset">
          <span class="field-name">data</span>
          <select name="data" value={data} onChange={(event) => setData(event.currentTarget.value)}>
            {options.sets.map((one) => (
              <option value={one.name}>{one.name}</option>
            ))}
            {options.own.map((path) => (
              <option value={path}>{path}</option>
            ))}
            {!known && !own && <option value={data}>{data}</option>}
          </select>
          <span class="field-doc">{known ? known.title : own ? "your own data" : "unknown data set"}</span>
        </label>
        {own && (
          <>
            <Text name="text" doc="column with the text" placeholder="text" />
            <Text name="label" doc="column with the label" placeholder="label" />
          </>
        )}
        <Rows data={data} text={body.text} label={body.label} toBeat={known?.to_beat == null ? null : toNumber(known.to_beat)} />
        <label class="field preset">
          <span class="field-name">spec</span>
          <select name="spec" value={spec} onChange={(event) => setSpec(event.currentTarget.value)}>
            <option value="">small, chosen from the data</option>
            {options.presets.map((preset) => (
              <option value={preset.name}>{preset.name}</option>
            ))}
            {options.folders.map((folder) => (
              <option value={folder}>from {folder}</option>
            ))}
          </select>
          <span class="field-doc">
            {options.presets.find((preset) => preset.name === spec)?.doc ?? (spec ? "training continues from its weights" : "head, classes, vocabulary and image size come from the data")}
          </span>
        </label>
        <label class="field preset">
          <span class="field-name">epochs</span>
          <input name="epochs" value={epochs} autocomplete="off" aria-invalid={error?.message.startsWith("--epochs") || undefined} onInput={(event) => setEpochs(event.currentTarget.value, "replace")} />
          <span class="field-doc">passes over the training data; 10,30,50 starts three runs, one after the other</span>
        </label>
        <details open={options.fields.some((field) => bad(field.name)) || undefined}>
          <summary>spec fields{set(fields)}</summary>
          {options.fields
            .filter((field) => field.first || field.name in fields)
            .map((field) => (
              <Text name={field.name} doc={field.doc} placeholder="set by the data and the spec" choices={field.choices} bad={bad(field.name)} key={field.name} />
            ))}
          <OtherField options={options} />
        </details>
        <details open={options.settings.some((setting) => bad(setting.name)) || undefined}>
          <summary>training settings{set(settings)}</summary>
          {[...options.settings].sort((left, right) => Number(right.first) - Number(left.first)).map((setting) => (
            <Text name={SET + setting.name} title={setting.name} doc={setting.doc} placeholder={standard(setting)} choices={setting.choices} bad={bad(setting.name)} key={setting.name} />
          ))}
        </details>
        <label class="field preset">
          <span class="field-name">name</span>
          <input name="name" value={name} autocomplete="off" spellcheck={false} placeholder={`${(data.split("/").pop() ?? data).replace(/\.\w+$/, "")}-1, -2, …`} aria-invalid={bad("name")} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <Fault error={error} />
        <button type="submit" class="primary" disabled={waiting || options.missing !== null}>
          {waiting ? "starting …" : "start"}
        </button>
        <p class="note">Training runs in a separate process: you can close this page, the browser and the lab. The run is saved in {options.runs}; the lab never deletes runs.</p>
      </form>
    </section>
  );
}

const chosenOf = (names: string[], read: (name: string) => string | null): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, read(name) ?? ""]).filter(([, value]) => value !== ""));

const set = (values: Record<string, string>): string => (Object.keys(values).length ? `, ${Object.keys(values).length} set` : "");

const standard = (setting: Setting): string => (setting.default === null ? "none" : String(setting.default));

function Text({ name, title = name, doc, placeholder, choices = [], bad }: { name: string; title?: string; doc: string; placeholder: string; choices?: string[]; bad?: boolean }) {
  const [value, setValue] = useParam(name);
  return (
    <label class="field preset">
      <span class="field-name mono">{title}</span>
      {choices.length ? (
        <select name={name} value={value} aria-invalid={bad} onChange={(event) => setValue(event.currentTarget.value)}>
          <option value="">{placeholder}</option>
          {choices.map((choice) => (
            <option value={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input name={name} value={value} placeholder={placeholder} autocomplete="off" spellcheck={false} aria-invalid={bad} onInput={(event) => setValue(event.currentTarget.value, "replace")} />
      )}
      <span class="field-doc">{doc}</span>
    </label>
  );
}

/** Any other field, as on the command line. */
function OtherField({ options }: { options: Options }) {
  const others = options.fields.filter((field) => !field.first && !query.value.get(field.name));
  const [draft, setDraft] = useState("");
  const add = () => {
    const [name = "", value = ""] = draft.split("=").map((word) => word.trim());
    if (!others.some((field) => field.name === name) || value === "") return;
    change({ [name]: value });
    setDraft("");
  };
  return (
    <label class="field preset">
      <span class="field-name">other</span>
      <input
        value={draft}
        placeholder="activation=gelu"
        list="train-fields"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          add();
        }}
      />
      <datalist id="train-fields">
        {others.map((field) => (
          <option value={`${field.name}=`} />
        ))}
      </datalist>
    </label>
  );
}

/** What is learned from: how many rows, and the first five. */
function Rows({ data, text, label, toBeat }: { data: string; text: string; label: string; toBeat: number | null }) {
  const answer = useAnswer<Sample>("/api/train/data", { data, text, label });
  const found = answer.value;
  return (
    <div class="train-sample" aria-busy={answer.waiting}>
      <Fault error={answer.error} />
      {!found && answer.waiting && <Progress>reading the data …</Progress>}
      {found && !answer.error && (
        <div class={answer.waiting ? "stale-sample" : ""}>
          <p class="note">
            {count(found.rows.train ?? 0)} {TASKS[found.task]}, {count(found.rows.validation ?? 0)} for validation, {count(found.rows.test ?? 0)} for testing
            {found.labels.length > 0 && `; ${found.labels.length} labels`}
            {toBeat !== null && `; linear baseline: ${toBeat}% accuracy`}
          </p>
          {found.task === "image" ? (
            <div class="train-images">
              {found.sample.map((row, place) => (
                <figure key={place}>
                  <Image pixels={row.input as number[][][]} label={String(row.label)} />
                  <figcaption>{String(row.label)}</figcaption>
                </figure>
              ))}
            </div>
          ) : (
            <ul class="train-texts">
              {found.sample.map((row, place) => (
                <li key={place}>{found.task === "tag" ? <Tagged words={row.input as string[]} tags={row.label as string[]} /> : <Labelled text={String(row.input)} label={row.label as string | null} />}</li>
              ))}
            </ul>
          )}
          {found.notes.map((note) => (
            <p class="note" key={note}>{note}</p>
          ))}
        </div>
      )}
    </div>
  );
}

function Labelled({ text, label }: { text: string; label: string | null }) {
  return (
    <>
      {label !== null && <b>{label}</b>} <span title={text}>{text}</span>
    </>
  );
}

function Tagged({ words, tags }: { words: string[]; tags: string[] }) {
  return (
    <>
      {words.map((word, place) => (
        <span class="train-word">
          {word}
          <sub>{tags[place]}</sub>{" "}
        </span>
      ))}
    </>
  );
}

function Image({ pixels, label }: { pixels: WireNumber[][][]; label: string }) {
  const colours = pixels.flat().map((pixel) => [0, 1, 2].map((part) => toNumber(pixel[part])) as Rgb);
  return <Pixels width={pixels[0]?.length ?? 0} height={pixels.length} colour={(place) => colours[place]!} drawn={[pixels]} label={`training image with the label ${label}`} />;
}
