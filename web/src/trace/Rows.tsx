// An encoder-decoder's two texts: the source above, the target below, and between them where the chosen target token looks.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { arrays, useAnswer } from "../shared/api";
import { change } from "../shared/place";
import type { Arrays } from "../shared/wire";
import { asksTarget, layerOf, parsePart } from "./parts";
import type { Opened, Page } from "./types";
import type { Where } from "./where";

const BAND = 56; // pixels between the rows
const FAINT = 0.01; // weights below this are not drawn

interface RowsProps {
  opened: Opened;
  where: Where;
  part: string;
  head: number;
  asks: number;
}

export function Rows({ opened, where, part, head, asks }: RowsProps) {
  const decoder = opened.stacks[1]!;
  const targets = asksTarget(opened, part);
  const layer = targets ? (layerOf(part) ?? decoder.layers - 1) : decoder.layers - 1;
  const place = targets ? asks : opened.target.length - 1;
  const shownHead = Math.min(head, decoder.heads - 1);
  const name = `decoder.layers.${layer}.cross.weights`;
  const kept = decoder.layers > 0 && opened.steps.some((step) => step.name === name && step.kept !== false);
  const answer = useAnswer<Arrays<Page>>(kept ? "/api/trace/tensor" : null, { ...where, name, at: { head: shownHead, from_row: place, whole_row: 1 } }, (url, body, signal) => arrays<Page>(url, body, signal));
  const weights = answer.value?.arrays.after?.data;
  const go = (stack: string, at: number) => change({ q: String(at), row: null, ...(parsePart(part).stack === stack || (stack === "decoder" && targets) ? {} : { layer: `${stack}.0`, step: null }) });
  return (
    <section class="texts" aria-label="source and target" tabIndex={0}>
      <div class="texts-rows">
        <Row label="source" words={opened.tokens} chosen={targets ? -1 : asks} weights={weights} onChoose={(at) => go("encoder", at)} />
        {weights && <Between weights={weights} from={place} words={opened.tokens.length + opened.target.length} />}
        <Row label="target" words={opened.target} chosen={targets ? asks : -1} onChoose={(at) => go("decoder", at)} />
      </div>
      <p class="note">
        Lines: where <b>{opened.target[place]}</b> looks in the source (cross-attention, layer {layer}, head {shownHead}); a thicker line is a larger weight.
      </p>
    </section>
  );
}

function Row({ label, words, chosen, weights, onChoose }: { label: string; words: string[]; chosen: number; weights?: ArrayLike<number>; onChoose: (at: number) => void }) {
  return (
    <div class="texts-row" role="group" aria-label={label} data-row={label}>
      <span class="texts-name">{label}</span>
      {words.map((word, at) => (
        <button type="button" class="chip" aria-pressed={at === chosen} onClick={() => onChoose(at)} title={weights ? `weight ${(weights[at] ?? 0).toPrecision(4)}` : undefined}>
          <span class="chip-word">{word}</span>
        </button>
      ))}
    </div>
  );
}

/** Lines from the target token `from` up to each token of the source. */
function Between({ weights, from, words }: { weights: ArrayLike<number>; from: number; words: number }) {
  const own = useRef<SVGSVGElement>(null);
  const [ends, setEnds] = useState<{ top: number[]; bottom: number; width: number }>();
  useLayoutEffect(() => {
    const rows = own.current?.parentElement;
    if (!rows) return;
    const measure = () => {
      const middles = (row: string) => [...rows.querySelectorAll<HTMLElement>(`[data-row=${row}] .chip`)].map((chip) => chip.offsetLeft + chip.offsetWidth / 2);
      setEnds({ top: middles("source"), bottom: middles("target")[from] ?? 0, width: rows.scrollWidth });
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(rows);
    return () => watcher.disconnect();
  }, [from, words]);
  return (
    <svg ref={own} class="texts-between" width={ends?.width ?? 0} height={BAND} aria-hidden="true">
      {ends?.top.map((x, at) => {
        const weight = weights[at] ?? 0;
        if (!(weight > FAINT)) return null;
        return <path class="line own" d={`M${ends.bottom} ${BAND} C${ends.bottom} ${BAND / 2} ${x} ${BAND / 2} ${x} 0`} stroke-width={1 + 7 * weight} stroke-opacity={0.25 + 0.75 * weight} />;
      })}
    </svg>
  );
}
