// Light or dark: as the system says, unless somebody chose.
import { effect, signal } from "@preact/signals";
import type { Theme } from "./colours";

const KEY = "glassformer-theme";
const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const word = localStorage.getItem(KEY);
    return word === "light" || word === "dark" ? word : null;
  } catch {
    return null;
  }
}

export const theme = signal<Theme>(chosen() ?? (system?.matches ? "dark" : "light"));

system?.addEventListener?.("change", (event) => {
  if (chosen() === null) theme.value = event.matches ? "dark" : "light";
});

/** Call once, where the whole page is ours: it wears the theme. */
export function wearTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function switchTheme(): void {
  theme.value = theme.value === "light" ? "dark" : "light";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A browser that keeps nothing still switches.
  }
}
