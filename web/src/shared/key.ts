// The key to this start of the lab. It comes after the # of the address that the lab prints, and is kept for this origin, port included:
// a reload and a new tab have it too, another port has not (a cookie would be sent there).
const PLACE = "glassformer-key";

/** Takes the key out of an address: `#key=…` is nothing that a friend should get with a link. */
export function keyIn(hash: string): string | null {
  return /^#key=([\w-]+)$/.exec(hash)?.[1] ?? null;
}

let kept = "";

export function key(): string {
  try {
    return kept || (localStorage.getItem(PLACE) ?? "");
  } catch {
    return kept; // a browser that keeps nothing has it until the page is closed
  }
}

/** Call before anything is asked; true where the address had a key. */
export function takeKey(): boolean {
  const found = keyIn(location.hash);
  if (found === null) return false;
  kept = found;
  try {
    localStorage.setItem(PLACE, found);
  } catch {
    // as above
  }
  history.replaceState(history.state, "", location.pathname + location.search);
  return true;
}
