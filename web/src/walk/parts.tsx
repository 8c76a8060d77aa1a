// What the scenes are made of: a number that opens, a strip of numbers, a small map, and a question before its answer.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { colourOf, css, scaleFor } from "../shared/colours";
import { Legend } from "../shared/Grid";
import { theme } from "../shared/theme";

export const short = (value: number): string => (Math.abs(value) < 0.005 ? "0.00" : value.toFixed(2).replace("-", "−"));

/** A number; a click shows below the picture how it comes about. */
export function Number_({ value, label, open }: { value: number; label: string; open: () => void }) {
  return (
    <button type="button" class="door" title={String(value)} aria-label={`${label}: ${short(value)}`} onClick={open}>
      {short(value)}
    </button>
  );
}

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
export function Strip({ name, values, open }: { name: ComponentChildren; values: ArrayLike<number>; open: (place: number) => void }) {
  const scale = scaleFor(values, "diverging");
  return (
    <tr>
      <th scope="row">{name}</th>
      {Array.from(values, (value, place) => (
        <td style={{ boxShadow: `inset 0 -4px 0 ${css(colourOf(value, scale, theme.value))}` }}>
          <Number_ value={value} label={`number ${place}`} open={() => open(place)} />
        </td>
      ))}
    </tr>
  );
}

/** A map of many numbers, without figures. */
export function Small({ values, columns, signed, label }: { values: ArrayLike<number>; columns: number; signed?: boolean; label: string }) {
  const scale = scaleFor(values, signed ? "diverging" : "sequential");
  const rows = values.length / columns;
  return (
    <svg class="walk-small" viewBox={`0 0 ${columns} ${rows}`} role="img" aria-label={label} preserveAspectRatio="none">
      {Array.from(values, (value, i) => (
        <rect x={i % columns} y={Math.floor(i / columns)} width={1.02} height={1.02} fill={css(colourOf(value, scale, theme.value))} />
      ))}
    </svg>
  );
}

/** The scale of a map: what its colours mean. */
export const Key = ({ values }: { values: ArrayLike<number> }) => <Legend scale={scaleFor(values, "diverging")} />;

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

export function Bar({ share, colour }: { share: number; colour?: string }) {
  return (
    <span class="walk-bar" aria-hidden="true">
      <span style={{ width: `${100 * share}%`, background: colour }} />
    </span>
  );
}
