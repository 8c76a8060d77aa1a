// What a notebook calls: a view in the place that it gives, and how to take it away again.
import { render, type VNode } from "preact";
import { theme } from "../shared/theme";
import type { CellDocument } from "../trace/types";
import { Attention } from "./Attention";
import { Cell } from "./Cell";
import { Encoder } from "./Encoder";
import { asker, type Ask, type Model } from "./model";
import type { AttentionFirst, EncoderFirst } from "./types";

function view(kind: string, first: unknown, ask: Ask): VNode {
  if (kind === "attention") return <Attention ask={ask} first={first as AttentionFirst} />;
  if (kind === "cell") return <Cell ask={ask} first={first as CellDocument} start={(first as CellDocument).id} />;
  if (kind === "encoder") return <Encoder first={first as EncoderFirst} />;
  return <p class="fault">This view needs a newer version of glassformer: {kind}.</p>;
}

/** Light or dark, as the notebook is: JupyterLab and VS Code say so, elsewhere the system does. */
export function notebookTheme(body: HTMLElement): "light" | "dark" {
  const jupyter = body.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "false" ? "dark" : "light";
  if (body.dataset.vscodeThemeKind !== undefined) return /dark|high-contrast$/.test(body.dataset.vscodeThemeKind) ? "dark" : "light";
  return globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function widget(style: string): { render(given: { model: Model; el: HTMLElement }): () => void } {
  return {
    render({ model, el }) {
      const sheet = document.createElement("style");
      sheet.textContent = style;
      const place = document.createElement("div");
      place.className = "glassformer-widget";
      theme.value = notebookTheme(document.body);
      place.dataset.theme = theme.value;
      el.append(sheet, place);
      const [ask, forget] = asker(model);
      render(view(String(model.get("kind")), model.get("first"), ask), place);
      return () => {
        forget();
        render(null, place);
        el.replaceChildren();
      };
    },
  };
}
