// A line of a solution with its formulas set: what stands between dollars is LaTeX, and a mark inside a formula marks the whole of it.
import { Math } from "../shared/Math";
import type { Line, Verdict } from "./types";

export interface Run {
  text: string;
  math: "no" | "inline" | "display";
  verdict: Verdict;
}

const WORST: Verdict[] = ["wrong", "carried", "unclear", "right", "note", ""];

/** A line's parts as runs of text and formulas, each with one verdict. */
export function runsOf(parts: Line["parts"]): Run[] {
  const text = parts.map(([part]) => part).join("");
  const formulas = [...text.matchAll(/\$\$([^$]+)\$\$|\$((?:[^$\\]|\\.)+)\$/g)];
  const runs: Run[] = [];
  let at = 0;
  const plain = (to: number) => {
    for (const [part, verdict] of between(parts, at, to)) runs.push({ text: part, math: "no", verdict });
  };
  for (const found of formulas) {
    plain(found.index);
    at = found.index + found[0].length;
    const inside = between(parts, found.index, at).map(([, verdict]) => verdict);
    runs.push({ text: found[1] ?? found[2]!, math: found[1] ? "display" : "inline", verdict: WORST.find((verdict) => inside.includes(verdict)) ?? "" });
  }
  plain(text.length);
  return runs;
}

/** The parts from one place of the text to another. */
function between(parts: Line["parts"], from: number, to: number): Line["parts"] {
  let at = 0;
  return parts.flatMap(([text, verdict]): Line["parts"] => {
    const [start, end] = [globalThis.Math.max(from - at, 0), globalThis.Math.min(to - at, text.length)];
    at += text.length;
    return start < end ? [[text.slice(start, end), verdict]] : [];
  });
}

export function Set({ parts }: { parts: Line["parts"] }) {
  return (
    <span class="check-text" title={parts.map(([text]) => text).join("")}>
      {runsOf(parts).map(({ text, math, verdict }) => {
        const shown = math === "no" ? text : <Math latex={text} display={math === "display"} />;
        return verdict === "" ? shown : <mark class={verdict}>{shown}</mark>;
      })}
    </span>
  );
}

/** `two_scores` as a title: Two scores. */
export function titled(id: string): string {
  const words = id.replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
