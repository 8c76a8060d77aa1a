// Loss or accuracy of the chosen runs: validation solid, training dashed, steps faint, and a ring where the validation was at its best.
import { useRef } from "preact/hooks";
import type uPlot from "uplot";
import { digits } from "../shared/format";
import { Chart, type Look } from "../shared/Plot";
import { aligned, clearOf, seriesOf, type Curve } from "./curve";
import type { Row } from "./types";

export const HUES = Array.from({ length: 10 }, (_, run) => `var(--run-${run})`);
export const hue = (run: number): string => HUES[run % HUES.length]!;

export interface Watched {
  name: string;
  curve: Curve;
  row: Row | undefined;
}

interface Ring {
  x: number;
  y: number;
  run: number;
  words: string;
}

/** Where the validation was at its best, and in words where there is one run alone. */
export function ringsOf(runs: Watched[], what: "loss" | "accuracy"): Ring[] {
  return runs.flatMap(({ curve }, run) => {
    const verdict = curve.verdict;
    if (!verdict) return [];
    const at = what === "loss" ? verdict.turn : verdict.best_epoch; // the epoch whose weights the run keeps
    const epoch = curve.epochs.find((one) => one.epoch === at);
    if (!epoch) return [];
    const value = what === "loss" ? epoch.validationLoss : epoch.validationAccuracy;
    const words = runs.length > 1 ? "" : what === "loss" ? `lowest at ${at}` : percent(value);
    return [{ x: epoch.epoch, y: value, run, words }];
  });
}

export const percent = (value: number): string => (Number.isFinite(value) ? `${(100 * value).toFixed(1)}%` : "NaN");

export function Curves({ runs, what }: { runs: Watched[]; what: "loss" | "accuracy" }) {
  const series = seriesOf(runs, what);
  const data = aligned(series) as uPlot.AlignedData;
  const readout = useRef<HTMLParagraphElement>(null);
  const rings = useRef<Ring[]>([]);
  rings.current = ringsOf(runs, what);
  const epochs = Math.max(1, ...runs.map(({ row }) => row?.epochs ?? 1));
  const format = (_: uPlot, value: number | null) => (value === null ? "–" : what === "loss" ? digits(value) : percent(value));
  const look: Look = (real, axis) => ({
    scales: {
      x: { time: false, range: [0, epochs] },
      y: { range: (_, low, high) => (what === "accuracy" ? [Math.floor(10 * Math.min(low ?? 0, 0.9)) / 10, 1] : [0, (high || 1) * 1.06]) },
    },
    cursor: { y: false },
legend: { show: false }, // the page has one for both pictures; the line below says the numbers under the mouse
    axes: [
      { ...axis, label: "epoch", labelSize: 24, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], space: 36 },
      { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => (what === "loss" ? digits(tick) : `${Math.round(100 * tick)}%`)) },
    ],
    series: [
      { label: "epoch", value: (_, value: number | null) => (value === null ? "–" : String(Math.round(100 * value) / 100)) },
      ...series.map((line) => ({
        label: line.label,
        stroke: real(hue(line.run)),
        width: line.kind === "validation" ? 2.2 : line.kind === "training" ? 1.6 : 1,
        alpha: line.kind === "steps" ? 0.4 : 1,
        dash: line.kind === "training" ? [6, 4] : undefined,
        spanGaps: true,
        points: line.kind === "steps" ? { show: false } : { size: 5, fill: real(hue(line.run)) },
        value: format,
      })),
    ],
    hooks: {
      draw: [(drawn) => drawRings(drawn, rings.current, real)],
      setCursor: [(drawn) => readout.current && (readout.current.textContent = under(drawn, format))],
    },
  });
  const shape = JSON.stringify([series.map((line) => [line.label, line.run, line.kind]), epochs]);
  const label = `${what} against epochs. ${spoken(runs, what)}`;
  return (
    <div>
      <Chart title={what} label={label} data={data} look={look} shape={shape} height={290} below={0} class="plot curves" data-what={what} data-points={data[0].length} />
      <p class="note curve-values" ref={readout} aria-hidden="true" />
    </div>
  );
}

/** What stands under the mouse: the epoch, and each line's value. */
function under(plot: uPlot, format: (plot: uPlot, value: number | null) => string): string {
  const at = plot.cursor.idx;
  if (at === null || at === undefined) return "";
  const values = plot.series.slice(1).flatMap((line, place) => {
    const value = plot.data[place + 1]?.[at];
    return value === null || value === undefined ? [] : [`${String(line.label)} ${format(plot, value)}`];
  });
  return `epoch ${Math.round(100 * plot.data[0][at]!) / 100}: ${values.join(", ")}`;
}

/** The last values, for those who cannot see the picture. */
function spoken(runs: Watched[], what: "loss" | "accuracy"): string {
  const lines = runs.map(({ name, curve }) => {
    const last = curve.epochs[curve.epochs.length - 1];
    if (!last) return `${name}: no epoch yet`;
    const [training, validation] = what === "loss" ? [digits(last.trainLoss), digits(last.validationLoss)] : [percent(last.trainAccuracy), percent(last.validationAccuracy)];
    return `${name} after epoch ${last.epoch}: training ${training}, validation ${validation}`;
  });
  return lines.join("; ");
}

/** Every curve as it lies on the canvas. */
function linesOf(plot: uPlot): [number, number][][] {
  const [epochs, ...values] = plot.data;
  return values.map((curve) => [...epochs].flatMap((epoch, i) => (curve[i] == null ? [] : [[plot.valToPos(epoch, "x", true), plot.valToPos(curve[i]!, "y", true)] as [number, number]])));
}

function drawRings(plot: uPlot, rings: Ring[], real: (colour: string) => string): void {
  const { ctx } = plot;
  const dots = globalThis.devicePixelRatio || 1;
  for (const ring of rings) {
    const [x, y] = [plot.valToPos(ring.x, "x", true), plot.valToPos(ring.y, "y", true)];
    ctx.save();
    ctx.strokeStyle = real(hue(ring.run));
    ctx.fillStyle = real("var(--paper)");
    ctx.lineWidth = 2 * dots;
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(x, y, 5 * dots, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = real("var(--ink)");
    ctx.font = `${12 * dots}px system-ui, sans-serif`;
    const wide = ctx.measureText(ring.words).width + 8 * dots;
    ctx.textAlign = "center";
    const { left: start, width, top, height } = plot.bbox;
    const left = Math.min(Math.max(x, start + wide / 2), start + width - wide / 2);
    const down = clearOf(linesOf(plot), [left, y], [wide, 12 * dots], [top, top + height]);
    ctx.strokeStyle = real("var(--paper)");
    ctx.lineWidth = 4 * dots;
    ctx.strokeText(ring.words, left, down); // a line behind the words does not strike them out
    ctx.fillText(ring.words, left, down);
    ctx.restore();
  }
}
