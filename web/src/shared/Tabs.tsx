// Tabs, moved through with the arrow keys; the chosen one is in the address.
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { useParam } from "./place";

export interface Tab {
  id: string;
  title: string;
  content: () => ComponentChildren;
}

export function Tabs({ tabs, param = "tab", label }: { tabs: Tab[]; param?: string; label: string }) {
  const [chosen, choose] = useParam(param, tabs[0]!.id);
  const current = tabs.find((tab) => tab.id === chosen) ?? tabs[0]!;
  const list = useRef<HTMLDivElement>(null);
  const base = useId();
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (tabs.indexOf(current) + step + tabs.length) % tabs.length;
    choose(tabs[next]!.id, "replace");
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <section class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            aria-selected={tab === current}
            aria-controls={`${base}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => choose(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${current.id}`} tabIndex={0}>
        {current.content()}
      </div>
    </section>
  );
}
