// An export of the lab: the same pages from any web server, with the answers in files that src/glassformer/lab/export.py wrote.
const root = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="glassformer-root"]')?.content;
const base = root === undefined ? "" : new URL(root, location.href).pathname.replace(/\/$/, "");

export const exported = root !== undefined;

/** An address of the lab as a link of this server: `/bench?…` is `/folder/bench/?…` in an export. */
export function hrefOf(address: string, under = base, files = exported): string {
  return files ? under + address.replace(/^\/\w+(?=$|\?)/, "$&/") : address;
}

/** The lab's name for the page at a path of this server. */
export function pageAt(path: string, under = base, files = exported): string {
  return files ? path.slice(under.length).replace(/index\.html$/, "").replace(/(?<=.)\/$/, "") : path;
}

/** The name of a question: its address and its body, with sorted keys and no spaces. */
export const questionOf = (url: string, body: unknown): string => (body === undefined ? url : `${url} ${JSON.stringify(sorted(body))}`);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}

interface Index {
  known: unknown;
  files: Record<string, string>;
}

let index: Promise<Index> | undefined;
const file = (name: string, signal?: AbortSignal) => fetch(`${base}/data/${name}`, { signal });

/** The stored answer to a question, or null where the export has none. */
export async function stored(url: string, body: unknown, signal?: AbortSignal): Promise<Response | null> {
  index ??= file("index.json").then((answer) => answer.json() as Promise<Index>);
  const { known, files } = await index;
  if (url === "/api/lab") return new Response(JSON.stringify(known));
  const question = questionOf(url, body);
  const name = files[question];
  if (name === undefined) return null;
  const answer = await file(name, signal);
  if (!answer.ok || !name.endsWith(".json")) return answer;
  return new Response(JSON.stringify(((await answer.json()) as Record<string, unknown>)[question]));
}
