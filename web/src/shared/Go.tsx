// A link to another page of the lab, opened without loading the page anew; each page remembers its own address while another is open.
import type { ComponentChildren } from "preact";
import { hrefOf } from "./exported";
import { goTo } from "./place";

interface GoProps {
  to: string;
  children: ComponentChildren;
  before?: () => string; // called when it is followed; gives the address to open
  [attribute: string]: unknown;
}

export function Go({ to, before, children, ...more }: GoProps) {
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(before?.() ?? to);
    scrollTo(0, 0);
  };
  return (
    <a href={hrefOf(to)} onClick={open} {...more}>
      {children}
    </a>
  );
}
