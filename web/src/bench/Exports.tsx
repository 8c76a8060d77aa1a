// A view of the bench as a file, in the forms that the command line gives.
import { useState } from "preact/hooks";
import { json } from "../shared/api";
import { exported } from "../shared/exported";
import { save } from "../shared/save";

const TITLES = { json: "JSON", markdown: "Markdown", latex: "LaTeX", html: "HTML", svg: "SVG" };
export type Form = keyof typeof TITLES;
export const TABLE: Form[] = ["markdown", "latex", "html", "json"];

export function Exports({ view, forms = TABLE, asked }: { view: string; forms?: Form[]; asked: object }) {
  const [said, setSaid] = useState("");
  if (exported) return null;
  const saved = async (form: Form) => {
    const file = await json<{ name: string; text: string }>("/api/bench/export", { ...asked, view, form });
    save(file.name, file.text);
    return `saved ${file.name}`;
  };
  return (
    <p class="exports-line note">
      save as
      {forms.map((form) => (
        <button type="button" class="quiet" aria-label={`save the ${view} as ${TITLES[form]}`} onClick={() => void saved(form).then(setSaid, (error: Error) => setSaid(error.message))}>
          {TITLES[form]}
        </button>
      ))}
      <span role="status">{said}</span>
    </p>
  );
}
