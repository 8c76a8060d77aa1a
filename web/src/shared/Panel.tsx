// The one panel: on the right, below on a narrow screen. The trail at its top goes back, and the address holds it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { InPanel, trail } from "./Door";
import { change } from "./place";

interface PanelProps {
  empty?: ComponentChildren; // what stands there while nothing is open
  title: (id: string) => string;
  children: (id: string) => ComponentChildren;
}

export function Panel({ title, children, empty }: PanelProps) {
  const steps = trail();
  const id = steps[steps.length - 1];
  const heading = useRef<HTMLHeadingElement>(null);
  const opener = useRef<Element | null>(null);
  const before = useRef(id);
  useEffect(() => {
    if (id !== undefined && before.current === undefined) opener.current = document.activeElement;
    if (id !== before.current && id !== undefined) heading.current?.focus({ preventScroll: innerWidth >= 1000 });
    if (id === undefined && opener.current instanceof HTMLElement) opener.current.focus();
    before.current = id;
  }, [id]);
  if (id === undefined) return empty ? <aside class="panel waiting" aria-label="opened number">{empty}</aside> : null;
  const close = () => change({ at: null });
  return (
    <aside
      class="panel"
      aria-label="opened number"
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <div class="panel-top">
        <h2 tabIndex={-1} ref={heading}>
          {title(id)}
        </h2>
        <button type="button" class="quiet" onClick={close}>
          close
        </button>
      </div>
      {steps.length > 1 && (
        <nav class="trail" aria-label="trail">
          {steps.map((step, number) =>
            number === steps.length - 1 ? (
              <span aria-current="step">{title(step)}</span>
            ) : (
              <>
                <button type="button" class="door" onClick={() => change({ at: steps.slice(0, number + 1) })}>
                  {title(step)}
                </button>
                {" › "}
              </>
            ),
          )}
        </nav>
      )}
      <InPanel.Provider value={true}>{children(id)}</InPanel.Provider>
    </aside>
  );
}
