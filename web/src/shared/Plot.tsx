// Lines over a number through uPlot, fetched when the first plot is needed: it follows the width of its place and the theme.
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { digits } from "./format";
import { theme } from "./theme";

type Real = (colour: string) => string; // a CSS colour, or a variable such as var(--part-norm), as the canvas takes it
export type Look = (real: Real, axis: uPlot.Axis) => Omit<uPlot.Options, "width" | "height">;

interface ChartProps {
  title: string;
  label: string; // what it says to those who cannot see it
  data: uPlot.AlignedData;
  look: Look;
  shape: string; // it is made anew where this changes, and gets new data otherwise
  height: number;
  below?: number; // room for a legend under it
  class?: string;
  [data: `data-${string}`]: unknown;
}

export function Chart({ title, label, data, look, shape, height, below = 32, class: name = "plot", ...more }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const made = useRef<uPlot | null>(null);
  const [Made, setMade] = useState<typeof uPlot>();
  useEffect(() => void import("uplot").then((module) => setMade(() => module.default)), []);
  const dark = theme.value;
  useEffect(() => {
    const node = place.current;
    if (!Made || !node) return;
    const style = getComputedStyle(node);
    const real: Real = (colour) => (colour.startsWith("var(") ? style.getPropertyValue(colour.slice(4, -1)).trim() : colour);
    const line = { stroke: real("var(--line)"), width: 1 };
    const size = () => ({ width: Math.max(200, node.clientWidth), height });
    const plot = (made.current = new Made({ ...look(real, { stroke: real("var(--ink-soft)"), grid: line, ticks: line }), ...size() }, data, node));
    const watch = new ResizeObserver(() => plot.setSize(size()));
    watch.observe(node);
    return () => {
      watch.disconnect();
      plot.destroy();
      made.current = null;
    };
  }, [Made, dark, shape, height]);
  useEffect(() => made.current?.setData(data), [JSON.stringify(data), Made, dark, shape]);
  return (
    <figure class={name} {...more}>
      <figcaption>{title}</figcaption>
      <div ref={place} style={{ minHeight: `${height + below}px` }} role="img" aria-label={label} />
    </figure>
  );
}

export interface Line {
  label: string;
  values: (number | null)[];
  colour: string;
  dash?: number[];
}

interface PlotProps {
  title: string;
  x: number[];
  xLabel: string;
  lines: Line[];
  format?: (value: number) => string;
  mark?: number; // a vertical line at this x
}

export function Plot({ title, x, xLabel, lines, format = digits, mark }: PlotProps) {
  const said = (_: uPlot, value: number | null) => (value === null ? "–" : format(value));
  const marked = mark === undefined ? undefined : x.reduce((best, one, place) => (Math.abs(one - mark) < Math.abs(x[best]! - mark) ? place : best), 0);
  const rest = (plot: uPlot) => marked !== undefined && plot.cursor.idx == null && plot.setLegend({ idx: marked }); // values where no mouse is
  const look: Look = (real, axis) => ({
    legend: { markers: { dash: (_, place) => (lines[place - 1]?.dash ? "dashed" : "solid") } },
    scales: { x: { time: false } },
    axes: [
      { ...axis, label: xLabel },
      { ...axis, size: 76, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : format(tick))) },
    ],
    series: [
      { label: xLabel, value: (_, value) => (value === null ? "–" : String(value)) },
      ...lines.map((line) => ({ label: line.label, stroke: real(line.colour), width: 2, dash: line.dash, value: said })),
    ],
    hooks: { ready: [rest], setCursor: [rest], setData: [rest], draw: [(plot) => mark !== undefined && drawMark(plot, mark, real("var(--accent)"))] },
  });
  const shape = JSON.stringify([lines.map(({ label, colour, dash }) => [label, colour, dash]), xLabel, mark]);
  const label = `${title}: ${lines.map((line) => line.label).join(", ")} against ${xLabel}`;
  return <Chart title={title} label={label} data={[x, ...lines.map((line) => line.values)]} look={look} shape={shape} height={260} />;
}

function drawMark(plot: uPlot, x: number, colour: string): void {
  const { ctx, bbox } = plot;
  const at = plot.valToPos(x, "x", true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
