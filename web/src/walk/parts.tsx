// What the scenes are made of: a number that opens, a strip of numbers, a small map, a bar, and a question before its answer.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { colourOf, css, scaleFor } from "../shared/colours";
import { Legend } from "../shared/Grid";
import { theme } from "../shared/theme";

export const short = (value: number): string => (Math.abs(value) < 0.005 ? "0.00" : value.toFixed(2).replace("-", "−"));

/** A number; a click shows beside the picture how it comes about. */
export function Number_({ value, label, open }: { value: number; label: string; open: () => void }) {
  return (
    <button type="button" class="door" title={String(value)} aria-label={`${label}: ${short(value)}`} onClick={open}>
      {short(value)}
    </button>
  );
}

/** A scene: its picture, and beside it (below on a narrow screen) the number that was opened and the question. */
export function Laid({ children, opened, ask, class: name = "appears" }: { children: ComponentChildren; opened: ComponentChildren; ask: ComponentChildren; class?: string }) {
  return (
    <>
      <div class={`walk-picture ${name}`}>{children}</div>
      <div class="walk-side">
        {opened}
        {ask}
      </div>
    </>
  );
}

/** Where the arithmetic of the number stands that was clicked last, and how to fill it. */
export function useOpened(): [ComponentChildren, (lines: ComponentChildren) => void] {
  const [lines, open] = useState<ComponentChildren>(null);
  const shown = (
    <div class="walk-opened" role="status">
      {lines ?? <span class="soft">Click a number to see how it is computed.</span>}
    </div>
  );
  return [shown, open];
}

/** A few numbers side by side, coloured by size. */
export function Strip({ name, values, open, sum }: { name: ComponentChildren; values: ArrayLike<number>; open: (place: number) => void; sum?: boolean }) {
  const scale = scaleFor(values, "diverging");
  return (
    <tr class={sum ? "walk-sum" : ""}>
      <th scope="row">{name}</th>
      {Array.from(values, (value, place) => (
        <td>
          <span class="walk-cell" style={{ borderColor: css(colourOf(value, scale, theme.value)) }}>
            <Number_ value={value} label={`number ${place}`} open={() => open(place)} />
          </span>
        </td>
      ))}
    </tr>
  );
}

/** Strips of one width under each other; they scroll where the screen is narrow. */
export function Strips({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="wide" tabIndex={0} role="group" aria-label={label}>
      <table class="walk-strips">
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A map of many numbers, without figures; one row can be framed. Cells of one colour are one path: few nodes are quick to draw. */
export function Small({ values, columns, signed, label, framed }: { values: ArrayLike<number>; columns: number; signed?: boolean; label: string; framed?: number }) {
  const scale = scaleFor(values, signed ? "diverging" : "sequential");
  const rows = values.length / columns;
  const cells = new Map<string, string>();
  for (let i = 0; i < values.length; i++) {
    const colour = css(colourOf(values[i]!, scale, theme.value));
    cells.set(colour, `${cells.get(colour) ?? ""}M${i % columns},${Math.floor(i / columns)}h1.02v1.02h-1.02z`);
  }
  return (
    <span class="walk-small">
      <svg viewBox={`0 0 ${columns} ${rows}`} role="img" aria-label={label} preserveAspectRatio="none">
        {[...cells].map(([colour, d]) => (
          <path fill={colour} d={d} />
        ))}
      </svg>
      {framed !== undefined && <span class="walk-framed" style={{ top: `${(100 * framed) / rows}%`, height: `${100 / rows}%` }} />}
    </span>
  );
}

/** The vectors of the sentence, a row for each piece with its name; the row of the piece that asks is framed. */
export function Sentence({ names, values, width, asks, label }: { names: string[]; values: Float32Array; width: number; asks: number; label: string }) {
  return (
    <>
      <div class="walk-rest">
        <ol class="walk-names">
          {names.map((name, t) => (
            <li class={t === asks ? "chosen" : ""}>{name}</li>
          ))}
        </ol>
        <Small values={values} columns={width} signed label={label} framed={asks} />
      </div>
      <Legend scale={scaleFor(values, "diverging")} />
    </>
  );
}

interface NowYouProps {
  question: ComponentChildren;
  options: string[];
  right: number; // which option comes out
  children: ComponentChildren; // what is seen after a choice
}

/** Predict, then see; nothing waits for it. */
export function NowYou({ question, options, right, children }: NowYouProps) {
  const [chosen, choose] = useState<number | null>(null);
  return (
    <section class="walk-now" aria-label="now you">
      <p>
        <b>Now you:</b> {question}
      </p>
      <p class="walk-options">
        {options.map((option, place) => (
          <button type="button" aria-pressed={place === chosen} onClick={() => choose(place)}>
            {option}
          </button>
        ))}
      </p>
      <div role="status">
        {chosen !== null && (
          <>
            <p>
              <b>{chosen === right ? "Yes." : `No: ${options[right]}.`}</b>
            </p>
            {children}
          </>
        )}
      </div>
    </section>
  );
}

/** A bar from 0 to 1, or from `from` to `to` where those are given, as parts of the whole width. */
export function Bar({ share = 0, from = 0, to = share, colour }: { share?: number; from?: number; to?: number; colour?: string }) {
  return (
    <span class="walk-bar" aria-hidden="true">
      <span style={{ marginLeft: `${100 * from}%`, width: `${100 * (to - from)}%`, background: colour }} />
    </span>
  );
}
