// The whole run in one picture: every word falls through the layers, gathers from the others on the way, and all end in one answer.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { classesOf, largest, meanWeights, type Told } from "./told";

const GAP = 74; // between two rows
const TOP = 6;
const VERDICT = 168; // width of the answer
const LEAST = 0.05; // the smallest share that is drawn
const STRONG = 0.16; // the smallest share along which something is seen to move
const EDGE = 78; // where the names of the rows stand
const NARROW = 500; // a picture so narrow has no room for them

/** One x for each piece: under its word where all words stand in one line, else at equal distances. */
function useColumns(count: number): [(svg: SVGSVGElement | null) => void, number[], number] {
  const svg = useRef<SVGSVGElement | null>(null);
  const [columns, setColumns] = useState<number[]>([]);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      const box = svg.current!.getBoundingClientRect();
      const chips = [...svg.current!.closest(".walk-glance")!.querySelectorAll(".walk-piece")].map((chip) => chip.getBoundingClientRect());
      const line = chips.every(({ top }) => Math.abs(top - chips[0]!.top) < 2);
      const room = box.width - (box.width < NARROW ? 0 : EDGE);
      setWidth(box.width);
      setColumns(chips.map((chip, t) => (line ? chip.left + chip.width / 2 - box.left : (room * (t + 0.5)) / count)));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(svg.current!.parentElement!);
    return () => watch.disconnect();
  }, [count]);
  return [(found) => (svg.current = found), columns, width];
}

interface Thread {
  d: string;
  share: number;
  row: number; // which layer it crosses
  own: boolean; // ends at the word that asks
}

export function Flow({ told }: { told: Told }) {
  const [svg, columns, width] = useColumns(told.pieces.length);
  const { layers, labels } = told.model.header;
  const y = (row: number) => TOP + row * GAP;
  const fall = (from: number, to: number, row: number) => `M${from},${y(row)} C${from},${y(row) + GAP / 2} ${to},${y(row + 1) - GAP / 2} ${to},${y(row + 1)}`;
  const threads: Thread[] = Array.from({ length: layers }, (_, row) => row).flatMap((row) =>
    Array.from(meanWeights(told, row), (share, i): Thread => {
      const [t, s] = [Math.floor(i / told.pieces.length), i % told.pieces.length];
      return { d: columns.length ? fall(columns[s]!, columns[t]!, row) : "", share, row, own: t === told.asks };
    }).filter(({ share, d }) => share >= LEAST && d !== ""),
  );
  const middle = columns.length ? Math.max(VERDICT / 2, (columns[0]! + columns.at(-1)!) / 2) : 0;
  const toAnswer = columns.map((x) => fall(x, middle, layers));
  const shares = classesOf(told);
  const best = largest(shares);
  const under = width - (columns.at(-1) ?? 0) < EDGE; // the names of the rows stand under the rows
  const height = y(layers + 1) + 34;
  return (
    <svg class="walk-flow" ref={svg} height={height} viewBox={`0 0 ${width || 1} ${height}`} role="img" aria-label={`the words pass ${layers} layers and end in the answer ${labels[best]}`}>
      {columns.map((x) => (
        <line class="walk-stem" x1={x} x2={x} y1={y(0)} y2={y(layers)} />
      ))}
      {threads.map(({ d, share, own }) => (
        <path class={own ? "walk-thread own" : "walk-thread"} d={d} stroke-opacity={own ? 0.35 + 0.65 * share : 0.1 + 0.5 * share} stroke-width={1 + 5 * share} />
      ))}
      {toAnswer.map((d) => (
        <path class="walk-thread" d={d} stroke-opacity={0.3} />
      ))}
      {threads.filter(({ share }) => share >= STRONG).map(({ d, row }) => <path class="walk-pulse" data-row={row} d={d} pathLength={1} />)}
      {toAnswer.map((d) => (
        <path class="walk-pulse" data-row={layers} d={d} pathLength={1} />
      ))}
      {Array.from({ length: layers + 1 }, (_, row) => columns.map((x, t) => <circle class={t === told.asks ? "own" : ""} cx={x} cy={y(row)} r={t === told.asks ? 4.5 : 3} />))}
      {columns.length > 0 && (
        <g>
          {["the words", ...Array.from({ length: layers }, (_, layer) => `after layer ${layer}`)].map((name, row) => (
            <text class="walk-level" x={Math.min(width, columns.at(-1)! + EDGE)} y={y(row) + (under ? 13 : 0)} text-anchor="end">
              {name}
            </text>
          ))}
          <rect class="walk-verdict" x={middle - VERDICT / 2} y={y(layers + 1)} width={VERDICT} height={32} rx={6} />
          <text class="walk-verdict" x={middle} y={y(layers + 1) + 16} text-anchor="middle">
            {labels[best]} {(100 * shares[best]!).toFixed(1)}%
          </text>
        </g>
      )}
    </svg>
  );
}
