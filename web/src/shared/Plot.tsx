// A line plot through uPlot, fetched when the first one is needed: it follows the width of its place and the theme.
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { digits } from "./format";
import { theme } from "./theme";

export interface Line {
  label: string;
  values: (number | null)[];
  colour: string; // a CSS colour, or a variable such as var(--part-norm)
  dash?: number[];
}

interface PlotProps {
  title: string;
  x: number[];
  xLabel: string;
  yLabel?: string;
  lines: Line[];
  height?: number;
  format?: (value: number) => string;
  mark?: number; // a vertical line at this x
}

export function Plot({ title, x, xLabel, yLabel, lines, height = 260, format = digits, mark }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const [Made, setMade] = useState<typeof uPlot>();
  useEffect(() => void import("uplot").then((module) => setMade(() => module.default)), []);
  const dark = theme.value;
  useEffect(() => {
    const node = place.current;
    if (!Made || !node) return;
    const style = getComputedStyle(node);
    const real = (colour: string) => (colour.startsWith("var(") ? style.getPropertyValue(colour.slice(4, -1)).trim() : colour);
    const axis = { stroke: real("var(--ink-soft)"), grid: { stroke: real("var(--line)"), width: 1 }, ticks: { stroke: real("var(--line)"), width: 1 } };
    const marked = (plot: uPlot) => {
      if (mark === undefined) return;
      const at = plot.valToPos(mark, "x", true);
      plot.ctx.save();
      plot.ctx.strokeStyle = real("var(--accent)");
      plot.ctx.setLineDash([4, 4]);
      plot.ctx.beginPath();
      plot.ctx.moveTo(at, plot.bbox.top);
      plot.ctx.lineTo(at, plot.bbox.top + plot.bbox.height);
      plot.ctx.stroke();
      plot.ctx.restore();
    };
    const plot = new Made(
      {
        width: node.clientWidth,
        height,
        scales: { x: { time: false } },
        axes: [
          { ...axis, label: xLabel },
          { ...axis, label: yLabel, size: 76, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : format(tick))) },
        ],
        series: [
          { label: xLabel, value: (_, value) => (value === null ? "–" : String(value)) },
          ...lines.map((line) => ({ label: line.label, stroke: real(line.colour), width: 2, dash: line.dash, value: (_: uPlot, value: number | null) => (value === null ? "–" : format(value)) })),
        ],
        hooks: { draw: [marked] },
      },
      [x, ...lines.map((line) => line.values)],
      node,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: node.clientWidth, height }));
    watch.observe(node);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [Made, dark, JSON.stringify([x, lines, xLabel, yLabel, height, mark])]);
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <div ref={place} style={{ minHeight: `${height + 32}px` }} role="img" aria-label={`${title}: ${lines.map((line) => line.label).join(", ")} against ${xLabel}`} />
    </figure>
  );
}
