// Numbers as people read them: four significant digits, and everything on hover.
import { toNumber, type WireNumber } from "./wire";

const MINUS = "−";

/** A whole number with its thousands: 109,482,240. Digits that came as text stay exact. */
export function count(value: WireNumber): string {
  const text = typeof value === "string" ? value : Number.isInteger(value) ? BigInt(value).toString() : digits(value);
  return text.replace("-", MINUS).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Four significant digits, or what is given; fewer only where those are all: 0.5, but 1.000 for what is nearly 1. */
export function digits(value: WireNumber, significant = 4): string {
  const number = toNumber(value);
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : `${MINUS}∞`;
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (Number.isInteger(number) && size < 10 ** significant) return String(number).replace("-", MINUS);
  if (size >= 10 ** significant && size < 1e6) return count(Math.round(number));
  const text = size >= 1e6 || size < 1e-4 ? scientific(number, significant) : number.toPrecision(significant);
  const plain = text.includes("e") ? scientific(number, significant) : text;
  const rounded = Math.abs(Number(number.toPrecision(significant)) - number) > 1e-12 * size;
  if (rounded) return plain.replace("-", MINUS);
  return plain.replace(/(\.\d*?)0+(?=$| )/, "$1").replace(/\.(?=$| )/, "").replace("-", MINUS);
}

function scientific(number: number, significant: number): string {
  const [mantissa = "0", exponent = "0"] = number.toExponential(significant - 1).split("e");
  const raised = [...String(Number(exponent))].map((letter) => (letter === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(letter)])).join("");
  return `${mantissa} · 10${raised}`;
}

/** All the digits there are, for hovering and for the panel. */
export function full(value: WireNumber): string {
  if (typeof value === "string" && /^-?\d+$/.test(value)) return count(value);
  const number = toNumber(value);
  return Number.isInteger(number) && Math.abs(number) < 2 ** 53 ? count(number) : String(number).replace("-", MINUS);
}

const STEPS: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"]];

/** 23.84 M; whole and exact below a million. */
export function brief(value: WireNumber): string {
  const number = toNumber(value);
  const step = STEPS.find(([size]) => Math.abs(number) >= size);
  return step ? `${digits(number / step[0])} ${step[1]}` : count(value);
}

/** 438 MB, in powers of ten, as the command line says it. */
export function bytes(value: WireNumber): string {
  const number = toNumber(value);
  const step = [...STEPS, [1e3, "k"] as [number, string]].find(([size]) => number >= size);
  return step ? `${digits(number / step[0])} ${step[1]}B` : `${count(value)} B`;
}

/** A share as a percentage: 21.8%. */
export function share(part: WireNumber, whole: WireNumber): string {
  const percent = (100 * toNumber(part)) / toNumber(whole);
  if (!Number.isFinite(percent)) return "–";
  return percent > 0 && percent < 0.1 ? "< 0.1%" : `${percent.toFixed(1)}%`;
}
