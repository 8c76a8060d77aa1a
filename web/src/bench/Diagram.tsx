// The encoder drawn from its blocks: shapes on the arrows, parameters in the blocks, residual lines around them; a block opens on click.
import { useMemo } from "preact/hooks";
import { partColour } from "../shared/colours";
import { brief, briefest, count } from "../shared/format";
import { change, query } from "../shared/place";
import type { Block, Derived } from "./types";
import { HEADER_HEIGHT as header, layOut, WIDTH, type Line, type Placed } from "./layout";

export function Diagram({ derived }: { derived: Derived }) {
  const opened = openBlocks(derived);
  const picture = useMemo(() => layOut(derived.diagram, new Set(opened)), [derived, opened.join()]);
  const selected = query.value.getAll("at").slice(-1)[0];
  const toggle = (block: Block, open: boolean) =>
    change({ at: block.name, open: block.blocks.length === 0 ? query.value.getAll("open") : stored(open ? opened.filter((name) => name !== block.name) : [...opened, block.name]) });
  return (
    <svg
      class="diagram"
      viewBox={`0 0 ${WIDTH} ${picture.height}`}
      width={WIDTH}
      height={picture.height}
      role="group"
      aria-label={`diagram of ${derived.label}`}
    >
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 8 4 0 8z" fill="var(--ink-soft)" />
        </marker>
      </defs>
      {picture.placed.map((item) => (
        <Box item={item} selected={item.block.name === selected} onClick={() => toggle(item.block, item.open)} key={item.key} />
      ))}
      {picture.lines.map((line) => (
        <Arrow line={line} />
      ))}
    </svg>
  );
}

const NONE = "none";
const stored = (names: string[]): string[] => (names.length ? names : [NONE]);

/** The blocks that are open: the first kind of layer until somebody opens or closes one. */
function openBlocks(derived: Derived): string[] {
  const names = query.value.getAll("open");
  if (names.length) return names.filter((name) => name !== NONE);
  return derived.diagram.blocks.filter((block) => block.times !== undefined).slice(0, 1).map((block) => block.name);
}

function Box({ item, selected, onClick }: { item: Placed; selected: boolean; onClick: () => void }) {
  const { block, x, y, width, height, open } = item;
  const colour = partColour(block.part);
  const words = block.times && block.times > 1 ? `× ${block.title}` : block.title;
  const room = width - 26 - 8.6 * words.length - (block.blocks.length ? 14 : 0);
  const parameters = block.parameters === 0 ? "" : [brief(block.parameters), briefest(block.parameters)].find((text) => 7.4 * text.length < room);
  return (
    <>
      <rect x={x} y={y} width={width} height={height} rx="5" fill="none" stroke={colour} stroke-width={selected ? 2.5 : 1.25} />
      <g
        class="block"
        role="button"
        tabindex={0}
        aria-expanded={block.blocks.length ? open : undefined}
        onClick={onClick}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          onClick();
        }}
      >
        <title>{`${words}, ${count(block.parameters)} parameters, gives ${block.shape}`}</title>
        <rect class="block-face" x={x} y={y} width={width} height={header} rx="5" fill={colour} fill-opacity={selected ? 0.26 : 0.13} />
        <text x={x + 10} y={y + header / 2} class="block-title" aria-hidden="true">
          {block.blocks.length > 0 && <tspan class="block-mark">{open ? "▾ " : "▸ "}</tspan>}
          {words}
        </text>
        <text x={x + width - 10} y={y + header / 2} class="block-count" text-anchor="end" aria-hidden="true">
          {parameters}
        </text>
      </g>
    </>
  );
}

function Arrow({ line }: { line: Line }) {
  return (
    <>
      {line.path && <path d={line.path} fill="none" stroke="var(--ink-soft)" stroke-width="1.25" marker-end="url(#arrow)" stroke-dasharray={line.around ? "4 3" : undefined} />}
      {line.shape && (
        <text x={line.enters ? line.x : line.x + 8} y={line.y} class="arrow-shape" text-anchor={line.enters ? "middle" : "start"}>
          {line.shape}
        </text>
      )}
    </>
  );
}
