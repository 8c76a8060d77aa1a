// The encoder of the bench: a block opens on click, and the address remembers which are open.
import { Diagram as Picture, pathOf } from "../shared/Diagram";
import { change, query } from "../shared/place";
import type { Box } from "../shared/records";
import type { Derived } from "./types";

const NONE = "none";

/** The blocks that the address has open: `null` where nobody opened or closed one yet. */
export function openedIn(address: URLSearchParams): string[] | null {
  const names = address.getAll("open");
  return names.length ? names.filter((name) => name !== NONE) : null;
}

export function Diagram({ derived }: { derived: Derived }) {
  const choose = (box: Box) => {
    const opened = derived.diagram.boxes.filter((one) => one.open).map((one) => one.name);
    const next = box.open ? opened.filter((name) => name !== box.name) : [...opened, box.name];
    change({ at: box.name, open: box.open === null ? query.value.getAll("open") : next.length ? next : [NONE] });
  };
  return <Picture diagram={derived.diagram} label={`diagram of ${derived.label}`} chosen={query.value.getAll("at").slice(-1)[0]} onChoose={choose} />;
}

/** What the lines of the diagram mean: those that are there. */
export function LineKey({ derived: { diagram } }: { derived: Derived }) {
  const drawn = new Set(diagram.arrows.map((arrow) => pathOf(arrow, diagram.boxes)));
  if (!drawn.has("residual") && !drawn.has("value")) return null;
  return (
    <p class="note diagram-key">
      {drawn.has("residual") && (
        <>
          <span class="line-key residual" /> residual
        </>
      )}
      {drawn.has("value") && (
        <>
          <span class="line-key value" /> values (v)
        </>
      )}
      <span class="line-key" /> everything else
    </p>
  );
}
