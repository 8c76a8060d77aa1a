// Where we are: the address holds the page and all of its state, so that a link shows a friend the same thing.
import { computed, signal } from "@preact/signals";
import { hrefOf, pageAt } from "./exported";

export type Changes = Record<string, string | string[] | null | undefined>;

const address = signal(read());

function read(): { path: string; query: string } {
  return { path: pageAt(globalThis.location?.pathname ?? "/"), query: globalThis.location?.search ?? "" };
}

/** Call once: follow the back and forward buttons. */
export function follow(): void {
  addEventListener("popstate", () => (address.value = read()));
}

export const path = computed(() => address.value.path);
export const query = computed(() => new URLSearchParams(address.value.query));

/** The query with some keys changed; null, undefined and "" drop a key, a list repeats it. */
export function changed(before: URLSearchParams, changes: Changes): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [key, value] of Object.entries(changes)) {
    after.delete(key);
    for (const item of Array.isArray(value) ? value : [value]) if (item !== null && item !== undefined && item !== "") after.append(key, item);
  }
  return after;
}

/** Go to another page: a step that the back button undoes, or (`replace`) none. */
export function goTo(href: string, how: "push" | "replace" = "push"): void {
  history[how === "push" ? "pushState" : "replaceState"](null, "", hrefOf(href));
  address.value = read();
}

/** Change the state of this page. A click is a step in the history; a keystroke (`replace`) is not. */
export function change(changes: Changes, how: "push" | "replace" = "push"): void {
  const text = changed(query.peek(), changes).toString();
  const href = `${address.peek().path}${text ? `?${text}` : ""}`;
  if (href === `${address.peek().path}${address.peek().query}`) return;
  goTo(href, how);
}

/** One key of the query, and how to set it. */
export function useParam(key: string, otherwise = ""): [string, (value: string, how?: "push" | "replace") => void] {
  const value = query.value.get(key) ?? otherwise;
  return [value, (next, how = "push") => change({ [key]: next === otherwise ? null : next }, how)];
}
