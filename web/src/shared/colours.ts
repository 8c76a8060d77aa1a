// Colours that mean something. Names of parts are CSS variables in theme.css; scales are computed here, for canvas and legend alike.

export const PARTS = ["embedding", "attention", "feed-forward", "norm", "head", "layer"] as const;
export type Part = (typeof PARTS)[number];

export const partColour = (part: string): string => `var(--part-${(PARTS as readonly string[]).includes(part) ? part : "layer"})`;

export type Rgb = [number, number, number];
export type Theme = "light" | "dark";

// Blue and orange differ in hue and in lightness from the middle, and stay apart for every common kind of colour blindness.
const DIVERGING: Record<Theme, [Rgb, Rgb, Rgb]> = {
  light: [[33, 102, 172], [247, 247, 247], [200, 90, 10]],
  dark: [[90, 165, 235], [28, 31, 36], [245, 150, 60]],
};
const SEQUENTIAL: Record<Theme, [Rgb, Rgb, Rgb]> = {
  light: [[250, 250, 252], [110, 140, 200], [20, 40, 110]],
  dark: [[28, 31, 36], [70, 110, 190], [200, 220, 255]],
};

export interface Scale {
  kind: "diverging" | "sequential";
  low: number;
  high: number;
}

/** Signed values: centred on zero. Values from 0 up: from 0 to the largest (weights: to 1). */
export function scaleFor(values: ArrayLike<number>, kind: Scale["kind"]): Scale {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return { kind, low: kind === "diverging" ? -1 : 0, high: 1 };
  if (kind === "sequential") return { kind, low: Math.min(0, low), high: high > 0 ? high : 1 };
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
  return { kind, low: -reach, high: reach };
}

export function colourOf(value: number, scale: Scale, theme: Theme): Rgb {
  if (Number.isNaN(value)) return theme === "light" ? [255, 0, 160] : [255, 90, 190];
  const [low, middle, high] = (scale.kind === "diverging" ? DIVERGING : SEQUENTIAL)[theme];
  const place = Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low || 1)));
  return place < 0.5 ? mixed(low, middle, 2 * place) : mixed(middle, high, 2 * place - 1);
}

function mixed(one: Rgb, other: Rgb, share: number): Rgb {
  return [0, 1, 2].map((i) => Math.round(one[i]! + (other[i]! - one[i]!) * share)) as Rgb;
}

export const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

/** Black or white, whichever can be read on a colour. */
export function inkOn([r, g, b]: Rgb): string {
  const light = [r, g, b].map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4) as Rgb;
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.3 ? "#111" : "#fff";
}
