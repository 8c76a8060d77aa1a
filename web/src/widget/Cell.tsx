// A number opened, in a notebook: its rule, its arithmetic, its terms, each a door; the trail goes back.
import { useEffect, useState } from "preact/hooks";
import { Elsewhere, InPanel } from "../shared/Door";
import { digits, full } from "../shared/format";
import { Pieces, Terms } from "../trace/Arithmetic";
import type { CellDocument } from "../trace/types";
import type { Ask } from "./model";

const END: Partial<Record<CellDocument["source"], string>> = {
  parameter: "A model parameter. It is not computed from other numbers.",
  input: "An input to the model. It is not computed from other numbers.",
};

export function Cell({ ask, first, start }: { ask: Ask; first?: CellDocument; start: string }) {
  const [trail, setTrail] = useState([start]);
  const [found, setFound] = useState<CellDocument | undefined>(first);
  const [error, setError] = useState("");
  const id = trail[trail.length - 1]!;
  useEffect(() => {
    let wanted = true;
    setError("");
    if (found?.id === id) return;
    ask({ ask: "cell", cell: id }).then(
      ({ answer }) => wanted && setFound(answer as unknown as CellDocument),
      (fault: Error) => wanted && setError(fault.message),
    );
    return () => {
      wanted = false;
    };
  }, [id]);
  return (
    <div class="panel widget-cell" role="region" aria-label="opened number">
      {trail.length > 1 && (
        <nav class="trail" aria-label="trail">
          {trail.slice(0, -1).map((step, place) => (
            <>
              <button type="button" class="door" onClick={() => setTrail(trail.slice(0, place + 1))}>
                {step}
              </button>
              {" › "}
            </>
          ))}
          <span aria-current="step">{id}</span>
        </nav>
      )}
      {error && <p class="fault" role="alert">{error}</p>}
      {found && (
        <div class="cell" data-cell={found.id} aria-busy={found.id !== id}>
          <p class="cell-label note">{found.label}</p>
          <p class="big-number" title={full(found.value)}>
            {digits(found.value)}
          </p>
          {found.source === "step" ? (
            <InPanel.Provider value={true}>
              <Elsewhere.Provider value={(next) => setTrail([...trail, next])}>
                <p class="mono">{found.rule}</p>
                <p class="cell-numbers">
                  = <Pieces pieces={found.numbers} />
                </p>
                <Terms found={found} />
              </Elsewhere.Provider>
            </InPanel.Provider>
          ) : (
            <p>{END[found.source] ?? `Set by hand (was ${digits(found.was!)}). It is not computed from other numbers.`}</p>
          )}
        </div>
      )}
    </div>
  );
}
