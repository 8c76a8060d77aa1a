// "Let me try": what somebody typed for the cells of a sheet, each judged by itself. A rounded right number is right.

/** The number that a text writes: 0.7071, −3, 1/3; null where it is none yet. */
export function numberIn(text: string): number | null {
  const [top = "", bottom, more] = text.trim().replace(/−/g, "-").split("/").map((part) => part.trim());
  const read = (part: string) => (/^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(part) ? Number(part) : null);
  const [over, under] = [read(top), bottom === undefined ? 1 : read(bottom)];
  return more === undefined && over !== null && under ? over / under : null;
}

const decimals = (text: string): number => (/\.(\d*)$/.exec(text.trim())?.[1] ?? "").length;
const FEWEST = 2; // decimals that a rounded number must have, so that 1 is not taken for 0.88

/** Whether a typed number is the shown one, or the shown one rounded; null where nothing can be said yet. */
export function judged(typed: string, shown: string): boolean | null {
  const [own, right] = [numberIn(typed), numberIn(shown)];
  if (own === null || right === null) return typed.trim() !== "" && typed.trim() === shown.trim() ? true : null;
  const apart = Math.abs(own - right);
  const last = 0.5 * 10 ** -decimals(shown);
  const rounded = typed.includes("/") ? 0 : decimals(typed) >= FEWEST ? 0.5 * 10 ** -decimals(typed) : 0;
  return apart <= (decimals(shown) ? last : 0) + rounded + 1e-12;
}

/** The rows of a matrix as a claim: `weights = 0.88 0.12; 0.5 0.5`. */
export const claimOf = (name: string, rows: string[][]): string => `${name} = ${rows.map((row) => row.map((cell) => cell.trim().replace(/−/g, "-")).join(" ")).join("; ")}`;
