// A sitting of a quiz, as the address holds it: each answer with the hints it took, `did=layer~1~41,984`.

export interface Sitting {
  answers: Record<string, string>;
  hints: Record<string, number>;
}

export function sittingOf(did: string[]): Sitting {
  const found: Sitting = { answers: {}, hints: {} };
  for (const item of did) {
    const [id, used, ...rest] = item.split("~");
    if (!id || used === undefined || !/^\d{1,2}$/.test(used)) continue;
    found.answers[id] = rest.join("~");
    found.hints[id] = Number(used);
  }
  return found;
}

export function withAnswer(did: string[], id: string, used: number, answer: string): string[] {
  return [...did.filter((item) => !item.startsWith(`${id}~`)), `${id}~${used}~${answer}`];
}

/** Marks of lines that are open: `8` shows the hint, `8!` the answer too. */
export function opened(open: string[], line: number): "" | "hint" | "answer" {
  return open.includes(`${line}!`) ? "answer" : open.includes(String(line)) ? "hint" : "";
}

export function withOpen(open: string[], line: number, level: "" | "hint" | "answer"): string[] {
  const others = open.filter((item) => item !== String(line) && item !== `${line}!`);
  return level === "" ? others : [...others, level === "hint" ? String(line) : `${line}!`];
}

/** Whether a text is short enough to travel in an address (the server takes 16,000 bytes of one). */
export const fits = (text: string): boolean => encodeURIComponent(text).length <= 9_000;
