// An encoder drawn, in a notebook: a block opens into the parameters that it holds.
import { useState } from "preact/hooks";
import { partColour } from "../shared/colours";
import { brief, count } from "../shared/format";
import type { Box, EncoderFirst } from "./model";

export function Encoder({ first }: { first: EncoderFirst }) {
  const { boxes, arrows, frames, width, height } = first.diagram;
  const [chosen, choose] = useState(boxes.find((box) => box.part === "attention" && box.parameters > 0)?.key ?? "");
  const box = boxes.find((one) => one.key === chosen);
  return (
    <div class="widget-columns">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="group" aria-label={`diagram of ${first.label}`}>
        {frames.map((frame) => (
          <g>
            <rect x="4" y={frame.y} width={width - 8} height={frame.height} rx="8" fill="none" stroke="var(--line)" />
            <text x="14" y={frame.y + 16} class="widget-small">
              {frame.title}
            </text>
            <text x={width - 14} y={frame.y + 16} class="widget-small" text-anchor="end">
              {frame.note}
            </text>
          </g>
        ))}
        {arrows.map((arrow) => (
          <Line points={arrow.points} label={arrow.label} around={arrow.around} />
        ))}
        {boxes.map((one) => (
          <Block box={one} chosen={one.key === chosen} onChoose={() => choose(one.key)} key={one.key} />
        ))}
      </svg>
      <div class="panel" role="region" aria-label="opened block">
        <p class="big-number">
          {count(first.parameters)} <span class="soft">parameters in all</span>
        </p>
        {box && (
          <>
            <h3>
              {box.title}: {count(box.parameters)} parameters
            </h3>
            <div class="wide">
              <table class="rows">
                <tbody>
                  {(first.lines[box.key] ?? []).map((line) => (
                    <tr>
                      <td class="mono">{line.name}</td>
                      <td>
                        {line.formula}
                        <div class="soft">{line.numbers}</div>
                      </td>
                      <td class="number">{count(line.count)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {!(first.lines[box.key] ?? []).length && <p class="note">It holds no parameters.</p>}
          </>
        )}
      </div>
    </div>
  );
}

function Block({ box, chosen, onChoose }: { box: Box; chosen: boolean; onChoose: () => void }) {
  const middle = box.y + box.height / 2;
  if (box.kind === "words") return <text x={box.x + box.width / 2} y={middle} text-anchor="middle" dominant-baseline="central">{box.title}</text>;
  if (box.kind === "sum") {
    const [x, y] = [box.x + box.width / 2, middle];
    return (
      <g>
        <circle cx={x} cy={y} r={box.height / 2} fill="var(--paper)" stroke="var(--ink-soft)" />
        <path d={`M${x - 5} ${y}h10M${x} ${y - 5}v10`} stroke="var(--ink)" />
      </g>
    );
  }
  const open = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose();
  };
  return (
    <g class="widget-block" role="button" tabindex={0} aria-pressed={chosen} onClick={onChoose} onKeyDown={open}>
      <title>{`${box.title}, ${count(box.parameters)} parameters`}</title>
      <rect x={box.x} y={box.y} width={box.width} height={box.height} rx="6" fill="var(--paper)" />
      <rect x={box.x} y={box.y} width={box.width} height={box.height} rx="6" fill={partColour(box.part)} fill-opacity={chosen ? 0.28 : 0.13} stroke={partColour(box.part)} stroke-width={chosen ? 2.5 : 1.25} />
      <text x={box.x + 10} y={middle} dominant-baseline="central" aria-hidden="true">
        {box.title}
      </text>
      <text x={box.x + box.width - 10} y={middle} text-anchor="end" dominant-baseline="central" aria-hidden="true">
        {box.parameters ? brief(box.parameters) : ""}
      </text>
    </g>
  );
}

function Line({ points, label, around }: { points: [number, number][]; label: string; around: boolean }) {
  const [x, y] = points[points.length - 1] ?? [0, 0];
  const [, from] = points[points.length - 2] ?? [0, 0];
  const across = points.length > 1 && points[points.length - 2]![1] === y;
  const tip = across ? `M${x + 7} ${y - 4}L${x} ${y}l7 4z` : `M${x - 4} ${y - 7}L${x} ${y}l4 -7z`;
  return (
    <g>
      <path d={`M${points.map((point) => point.join(" ")).join("L")}`} fill="none" stroke="var(--ink-soft)" stroke-dasharray={around ? "4 3" : undefined} />
      <path d={tip} fill="var(--ink-soft)" />
      {!around && (
        <text x={x + 8} y={from + 0.35 * (y - from)} class="widget-small" dominant-baseline="central">
          {label}
        </text>
      )}
    </g>
  );
}
