// Formulas through KaTeX, fetched when the first one is needed. KaTeX builds nodes, no HTML text: nothing in a formula can become markup.
import { useEffect, useRef, useState } from "preact/hooks";

type Katex = typeof import("katex");
let katex: Katex | undefined;
let loading: Promise<Katex> | undefined;

function load(): Promise<Katex> {
  loading ??= (async () => {
    const sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = "/static/math.css";
    const styled = new Promise((done) => ((sheet.onload = done), (sheet.onerror = done)));
    document.head.append(sheet);
    const module = await import("katex");
    await styled;
    katex = (module.default ?? module) as Katex;
    return katex;
  })();
  return loading;
}

export function Math({ latex, display = false }: { latex: string; display?: boolean }) {
  const node = useRef<HTMLSpanElement>(null);
  const [ready, setReady] = useState(katex !== undefined);
  useEffect(() => {
    if (!ready) void load().then(() => setReady(true));
  }, []);
  useEffect(() => {
    if (!ready || !node.current) return;
    try {
      katex!.render(latex, node.current, { displayMode: display, throwOnError: true, strict: "ignore", trust: false, maxExpand: 200, maxSize: 20 });
    } catch {
      node.current.textContent = latex; // what is no formula is shown as it is
    }
  }, [ready, latex, display]);
  return ready ? <span class="math" ref={node} key="math" /> : <code class="math" key="text">{latex}</code>;
}
