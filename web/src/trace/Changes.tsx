// What was changed, how to take it back, what it moved, and what came out.
import { Door } from "../shared/Door";
import { digits, share } from "../shared/format";
import { change } from "../shared/place";
import { toNumber } from "../shared/wire";
import { cellId, stepKey, toggled } from "./cells";
import { isSpecial } from "./meanings";
import { partOf } from "./parts";
import type { Opened } from "./types";
import { edits, setEdits } from "./where";

export function Changes({ opened }: { opened: Opened }) {
  const all = edits();
  if (all.length === 0) return null;
  const moved = Object.entries(opened.moved);
  const most = Math.max(0, ...moved.map(([, size]) => toNumber(size)).filter(Number.isFinite)) || 1;
  const output = opened.moved[opened.output.name];
  return (
    <section class="changes" aria-label="changes">
      <p>
        <b>Changed:</b>{" "}
        {all.map((edit, place) => (
          <span class="change">
            {opened.edits[place] ?? edit}
            <button type="button" class="quiet" aria-label={`undo: ${opened.edits[place] ?? edit}`} onClick={() => setEdits(all.filter((_, other) => other !== place))}>
              ✕
            </button>
          </span>
        ))}
        {all.length > 1 && (
          <button type="button" class="quiet" onClick={() => setEdits([])}>
            undo all
          </button>
        )}
      </p>
      <p data-testid="moved">
        {output === undefined ? "The output does not change." : `The output (${opened.output.name}) changes by up to ${digits(output)}.`}
      </p>
      {moved.length > 0 && (
        <details>
          <summary>changed tensors: {moved.length}</summary>
          <div class="moved-list">
            {moved.map(([name, size]) => {
              const step = opened.steps.find((one) => one.name === name);
              return (
                <>
                  <button type="button" class="door" onClick={() => change({ layer: step ? partOf(step) : "in", step: step ? stepKey(step) : name, show: "difference" })}>
                    {name}
                  </button>
                  <span class="number">{digits(size)}</span>
                  <span class="bar" style={{ width: `${Math.min(100, (100 * toNumber(size)) / most)}%` }} />
                </>
              );
            })}
          </div>
        </details>
      )}
    </section>
  );
}

/** Of a classifier: the classes, before and after. */
export function Output({ opened }: { opened: Opened }) {
  const { classes, name } = opened.output;
  if (classes.length === 0) return null;
  return (
    <section class="output" aria-label="output">
      <h2>Output</h2>
      <div class="classes">
        {classes.slice(0, 5).map((item) => (
          <>
            <span class="class-name">{item.name}</span>
            <span class="class-bars" aria-hidden="true">
              <span class="bar" style={{ width: `${100 * toNumber(item.probability)}%` }} />
              {item.before !== item.probability && <span class="bar was" style={{ width: `${100 * toNumber(item.before)}%` }} />}
            </span>
            <span class="number" data-testid="probability">
              {share(item.probability, 1)}
              {item.before !== item.probability && <span class="note"> was {share(item.before, 1)}</span>}
            </span>
            <Door id={cellId(name, { class: item.place })} label={`logit of ${item.name}`}>
              logit
            </Door>
            {opened.whole && (
              <Door id={`why:${cellId(name, { class: item.place })}`} label={`why ${item.name}?`}>
                why?
              </Door>
            )}
          </>
        ))}
      </div>
    </section>
  );
}

/** The tokens; one of them asks, and can be masked or swapped. */
export function Tokens({ opened, asks, chips = true }: { opened: Opened; asks: number; chips?: boolean }) {
  const all = edits();
  const mask = `mask:${asks}`;
  const word = opened.tokens[asks] ?? "";
  const shown = opened.tokens.slice(0, MOST_CHIPS);
  return (
    <section class="tokens" aria-label="tokens">
      {chips && <div class="chips">
        {shown.map((token, place) => {
          const tag = isSpecial(token) ? undefined : opened.output.tags[place]; // a special token is no word to be tagged
          return (
            <button type="button" class={all.includes(`mask:${place}`) ? "chip masked" : "chip"} aria-pressed={place === asks} onClick={() => change({ q: String(place), row: null })}>
              <span class="chip-word">{token}</span>
              {tag && (
                <span class={tag.before === tag.name ? "chip-tag" : "chip-tag moved"} title={`probability ${digits(tag.probability)}`}>
                  {tag.name}
                </span>
              )}
            </button>
          );
        })}
        {opened.tokens.length > MOST_CHIPS && (
          <label class="note">
            … of {opened.tokens.length}; go to token{" "}
            <input type="number" min={0} max={opened.tokens.length - 1} value={asks} onChange={(event) => change({ q: event.currentTarget.value, row: null })} />
          </label>
        )}
      </div>}
      <p class="token-actions">
        <span class="soft">
          Query: <b>&quot;{word}&quot;</b> (position {asks})
        </span>{" "}
        <button type="button" disabled={!opened.whole} onClick={() => setEdits(toggled(all, mask))}>
          {all.includes(mask) ? "unmask" : `mask ${opened.reads === "image" ? "this patch" : "this word"}`}
        </button>{" "}
        {opened.reads !== "image" && opened.tokens.length > 1 && opened.tokens.length <= MOST_CHIPS && (
          <select
            aria-label="swap with"
            value=""
            disabled={!opened.whole}
            onChange={(event) => setEdits([...all, `swap:${asks},${event.currentTarget.value}`])}
          >
            <option value="">swap with …</option>
            {opened.tokens.map((other, place) => place !== asks && <option value={String(place)}>{`${other} (${place})`}</option>)}
          </select>
        )}
      </p>
    </section>
  );
}

const MOST_CHIPS = 64;
