// Formulas through KaTeX. It comes with the page: a formula that grew after the page stood would move the doors under a finger.
// KaTeX builds nodes, no HTML text: nothing in a formula can become markup.
import katex from "katex";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// Asked for before the first formula is there: one drawn in a fallback font would change its height when its own arrives.
for (const font of ["1em KaTeX_Main", "italic 1em KaTeX_Math", "1em KaTeX_Size1", "1em KaTeX_Size2"]) void globalThis.document?.fonts?.load(font);

export function Math({ latex, display = false }: { latex: string; display?: boolean }) {
  const node = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    try {
      katex.render(latex, node.current!, { displayMode: display, throwOnError: true, strict: "ignore", trust: false, maxExpand: 200, maxSize: 20 });
    } catch {
      node.current!.textContent = latex; // what is no formula is shown as it is
    }
  }, [latex, display]);
  return <span class="math" ref={node} />;
}

/** Whether the fonts of what was drawn have arrived: formulas that wrap would move when they do, so a list of them is unseen until then. */
export function useFonts(): boolean {
  const [here, set] = useState(false);
  useEffect(() => {
    document.body.getBoundingClientRect(); // laid out, so that the browser knows which fonts it needs
    void document.fonts.ready.then(() => set(true));
  }, []);
  return here;
}
