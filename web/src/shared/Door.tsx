// Every number is a door: a button that opens the one panel.
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { digits, full } from "./format";
import { change, query } from "./place";
import type { WireNumber } from "./wire";

/** The doors that were opened, first to last: `at` in the address, once for each. */
export const trail = (): string[] => query.value.getAll("at");

/** True inside the panel, where a door goes one step deeper instead of starting anew. */
export const InPanel = createContext(false);

/** Where doors lead outside the lab, in a notebook, which has an address of its own. */
export const Elsewhere = createContext<((id: string) => void) | null>(null);

export function openDoor(id: string, inPanel = false): void {
  const before = inPanel ? trail() : [];
  change({ at: before[before.length - 1] === id ? before : [...before, id] });
}

interface DoorProps {
  id: string; // what the panel shows: the page's `Panel` knows how
  value?: WireNumber; // a number; four digits are shown, all of them on hover
  label?: string; // what it is, for those who cannot see where it stands
  children?: ComponentChildren; // instead of the number
  class?: string;
}

export function Door({ id, value, label, children, class: name = "" }: DoorProps) {
  const inPanel = useContext(InPanel);
  const elsewhere = useContext(Elsewhere);
  const open = elsewhere === null && trail().includes(id);
  return (
    <button
      type="button"
      class={`door ${name}`}
      title={value === undefined ? undefined : full(value)}
      aria-label={label}
      aria-expanded={open}
      onClick={() => (elsewhere ? elsewhere(id) : openDoor(id, inPanel))}
    >
      {children ?? (value === undefined ? id : digits(value))}
    </button>
  );
}
