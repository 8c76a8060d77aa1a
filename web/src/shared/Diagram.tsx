// An encoder drawn as src/glassformer/show/diagram.py laid it out: this file knows colours and clicks, and no sizes of its own.
import { partColour } from "./colours";
import { count } from "./format";
import type { Arrow, Box, Diagram as DiagramOf } from "./records";

interface DiagramProps {
  diagram: DiagramOf;
  label: string;
  chosen: string | undefined;
  onChoose: (box: Box) => void;
}

const LEGIBLE = 0.75; // of its size: on a narrow page the picture shrinks so far, and then it scrolls

export function Diagram({ diagram, label, chosen, onChoose }: DiagramProps) {
  const { width, height, boxes, arrows } = diagram;
  return (
    <div class="diagram-scroll">
      <svg class="diagram" viewBox={`0 0 ${width} ${height}`} width={width} height={height} style={{ minWidth: `${LEGIBLE * width}px` }} role="group" aria-label={label}>
        {boxes.map((box) => (
          <Drawn box={box} each={isEach(box, boxes)} chosen={box.name === chosen} onChoose={() => onChoose(box)} key={`${box.kind} ${box.name}`} />
        ))}
        {arrows.map((arrow) => (
          <Line arrow={arrow} path={pathOf(arrow, boxes)} key={`${arrow.source} ${arrow.target}`} />
        ))}
      </svg>
    </div>
  );
}

const HEADER = 24; // of an open block: what can be clicked

/** Whether a block stands in one that is there several times: its number is of one of them. */
function isEach(box: Box, boxes: Box[]): boolean {
  const { title, note, x, y, width } = box;
  const around = boxes.some((one) => one.open && /^\d+ ×/.test(one.note) && one !== box && one.x <= x && x + width <= one.x + one.width && one.y <= y && y + box.height <= one.y + one.height);
  return around && box.parameters > 0 && 7.1 * title.length + 6.3 * note.length + 50 < width; // letters of about that width
}

/** A residual goes past a block into a sum; the values go past scores and weights into the mix. */
export function pathOf(arrow: Arrow, boxes: Box[]): "residual" | "value" | "" {
  if (arrow.points.length < 3) return "";
  if (boxes.some((box) => box.name === arrow.target && box.kind === "sum")) return "residual";
  return arrow.source.endsWith(".v") ? "value" : "";
}

function Drawn({ box, each, chosen, onChoose }: { box: Box; each: boolean; chosen: boolean; onChoose: () => void }) {
  const { kind, x, y, width, height } = box;
  const [centre, middle] = [x + width / 2, y + (box.open ? HEADER : height) / 2];
  if (kind === "words") return <Words box={box} x={centre} y={middle} />;
  const colour = partColour(box.part ?? "layer");
  const face = { class: "block-face", fill: colour, stroke: colour, "fill-opacity": chosen ? 0.26 : 0.13, "stroke-width": chosen ? 2.5 : 1.25 };
  return (
    <>
      {box.open && <rect x={x} y={y} width={width} height={height} rx="5" fill="none" stroke={colour} stroke-width={chosen ? 2.5 : 1.25} />}
      <g
        class="block"
        role="button"
        tabindex={0}
        aria-expanded={box.open ?? undefined}
        onClick={onChoose}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          onChoose();
        }}
      >
        <title>{`${box.title}, ${count(box.parameters)} parameters, gives ${box.shape}`}</title>
        {kind === "sum" ? <circle cx={centre} cy={middle} r={height / 2} {...face} /> : <rect x={x} y={y} width={width} height={box.open ? HEADER : height} rx="5" {...face} />}
        {kind === "block" ? (
          <>
            <text x={x + 10} y={middle} class="block-title" aria-hidden="true">
              {box.open !== null && <tspan class="block-mark">{box.open ? "▾ " : "▸ "}</tspan>}
              {box.title}
            </text>
            <text x={x + width - 10} y={middle} class="block-note" text-anchor="end" aria-hidden="true">
              {box.note}
              {each && <tspan class="index"> each</tspan>}
            </text>
          </>
        ) : (
          <>
            <Words box={box} x={centre} y={kind === "step" ? y + 12 : middle} />
            {kind === "step" && (
              <text x={centre} y={y + 26} class="arrow-shape" text-anchor="middle" aria-hidden="true">
                {box.note}
              </text>
            )}
          </>
        )}
      </g>
    </>
  );
}

/** The words of a box, indices below the line. */
function Words({ box, x, y }: { box: Box; x: number; y: number }) {
  let low = false;
  return (
    <text x={x} y={y} class={box.kind === "step" ? "equation" : undefined} text-anchor="middle" aria-hidden={box.kind !== "words"}>
      {box.pieces.map(([text, below]) => {
        const shift = (below ? 3 : 0) - (low ? 3 : 0);
        low = below;
        return (
          <tspan dy={shift} class={below ? "index" : undefined}>
            {text}
          </tspan>
        );
      })}
    </text>
  );
}

const path = (points: [number, number][]): string => (points.length ? `M${points.map((point) => point.join(" ")).join("L")}` : "");

function Line({ arrow, path: kind }: { arrow: Arrow; path: string }) {
  return (
    <>
      <path d={path(arrow.points)} class={`arrow ${kind}`} />
      <path d={path(arrow.head)} class="arrow" />
      {arrow.label && (
        <text x={arrow.at[0]} y={arrow.at[1]} class="arrow-shape" text-anchor="end">
          {arrow.label}
        </text>
      )}
    </>
  );
}
