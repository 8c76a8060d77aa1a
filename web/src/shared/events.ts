// Server-Sent Events, read from a fetch: an EventSource can send no header, and so no key.

export interface SentEvent {
  name: string;
  data: string;
  id?: string; // a mark: sent back when the connection broke, so that the server goes on from there
}

/** Cuts text that comes in pieces into events; what is not complete waits for the next piece. */
export function eventReader(): (piece: string) => SentEvent[] {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    return blocks.map(oneEvent).filter((event) => event !== null);
  };
}

function oneEvent(block: string): SentEvent | null {
  let name = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === "event") name = value!;
    if (field === "id") id = value!;
    if (field === "data") data.push(value!);
  }
  return data.length ? { name, data: data.join("\n"), id } : null;
}
