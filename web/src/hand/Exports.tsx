// A step, or the whole page, in another form: Markdown and LaTeX are copied or saved, HTML, PNG and the problem file saved.
import { useState } from "preact/hooks";
import { json } from "../shared/api";
import { save } from "../shared/save";
import { drawn } from "./picture";
import type { Asked } from "./asked";
import type { PageDocument } from "./types";

const FORMS: [string, string, string][] = [
  ["markdown", "Markdown", "md"],
  ["latex", "LaTeX", "tex"],
  ["html", "HTML", "html"],
];

export function Exports({ asked, page, step, name }: { asked: Asked; page: PageDocument; step?: string; name: string }) {
  const [said, setSaid] = useState("");
  const what = step ?? "the whole page";
  const base = step ? `${name}-${step}` : name;
  const told = (work: Promise<string>) => void work.then(setSaid, (error: Error) => setSaid(error.message));
  const text = async (form: string) => (await json<{ text: string }>("/api/hand/export", { ...asked, form, step })).text;
  const saved = async (form: string, ending: string) => {
    save(`${base}.${ending}`, new Blob([await text(form)], { type: "text/plain;charset=utf-8" }));
    return `saved ${base}.${ending}`;
  };
  const copied = async (form: string, title: string) => {
    await navigator.clipboard.writeText(await text(form));
    return `${title} copied`;
  };
  const picture = async () => {
    save(`${base}.png`, await drawn(page, step));
    return `saved ${base}.png`;
  };
  return (
    <details class="exports">
      <summary aria-label={`export ${what}`}>export</summary>
      <span class="exports-row">
        <span class="note">save</span>
        {FORMS.map(([form, title, ending]) => (
          <button type="button" class="quiet" aria-label={`save ${what} as ${title}`} onClick={() => told(saved(form, ending))}>
            {title}
          </button>
        ))}
        <button type="button" class="quiet" aria-label={`save ${what} as PNG`} onClick={() => told(picture())}>
          PNG
        </button>
        {!step && (
          <button type="button" class="quiet" title="for glassformer work FILE" onClick={() => told(saved("problem", "json"))}>
            problem file
          </button>
        )}
        <span class="note">copy</span>
        {FORMS.slice(0, 2).map(([form, title]) => (
          <button type="button" class="quiet" aria-label={`copy ${what} as ${title}`} onClick={() => told(copied(form, title))}>
            {title}
          </button>
        ))}
        <span class="note" role="status">
          {said}
        </span>
      </span>
    </details>
  );
}
