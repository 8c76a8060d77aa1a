import { fireEvent, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { starts } from "./Attention";
import { asker, type Model } from "./model";
import { notebookTheme, widget } from "./render";

type Handle = (said: unknown, buffers?: ArrayBuffer[]) => void;

/** A kernel that answers with what `reply` says. */
function kernel(kind: string, first: unknown, reply: (asked: Record<string, unknown>) => [unknown, ArrayBuffer[]]): Model & { asked: Record<string, unknown>[] } {
  const handles = new Set<Handle>();
  const asked: Record<string, unknown>[] = [];
  return {
    asked,
    get: (name) => ({ kind, first })[name],
    on: (_, handle) => void handles.add(handle as unknown as Handle),
    off: (_, handle) => void handles.delete(handle as unknown as Handle),
    send: (content) => {
      const question = content as Record<string, unknown>;
      asked.push(question);
      const [said, buffers] = reply(question);
      queueMicrotask(() => handles.forEach((handle) => handle({ id: question.id, ...(said as object) }, buffers)));
    },
  };
}

const cell = (id: string, value: number, numbers: unknown[] = []) => ({
  id, name: id, part: "attention", label: `the cell ${id}`, value, before: null, was: null, source: numbers.length ? "step" : "parameter", rule: "a rule", latex: "", numbers, copy: "",
  how: { kind: "single" }, terms: [], rest: { terms: 0, sum: 0 }, heads: [],
});

const attention = { label: "2 layers", queries: ["<b>a", "b"], keys: ["<b>a", "b"], name: "layers.*.attention.weights", query_axis: "t", layers: [0, 1], heads: [0, 1], weights: [0.25, 0.75, 1, 0], window: 48 };

test("another head is asked for, and its weights come as bytes", async () => {
  const model = kernel("attention", attention, () => [{ answer: { shape: [2, 2] } }, [new Float32Array([0.5, 0.5, 0.1, 0.9]).buffer]]);
  const el = document.createElement("div");
  const leave = widget(".x { }").render({ model, el });
  expect(el.querySelector("figcaption")?.textContent).toContain("layer 0, head 0");
  expect(el.querySelector("b")).toBeNull();
  const head = el.querySelectorAll("select")[1]!;
  fireEvent.change(head, { target: { value: "1" } });
  await waitFor(() => expect(el.querySelector("figcaption")?.textContent).toContain("head 1"));
  expect(model.asked[0]).toMatchObject({ ask: "weights", layer: 0, head: 1, row: 0, column: 0 });
  leave();
  expect(el.childNodes.length).toBe(0);
});

test("a number opens, its parts open, and the trail comes back", async () => {
  const first = cell("out[t=0]", 2, ["1 + ", { id: "W[t=1]", text: "1", label: "a weight", value: 1 }]);
  const model = kernel("cell", first, ({ cell: id }) => [{ answer: cell(String(id), 1) }, []]);
  const el = document.createElement("div");
  document.body.append(el);
  widget("").render({ model, el });
  fireEvent.click(el.querySelector("button.door")!);
  await waitFor(() => expect(el.querySelector(".cell")?.getAttribute("data-cell")).toBe("W[t=1]"));
  expect(el.textContent).toContain("A model parameter. It is not computed from other numbers.");
  expect(location.search).toBe(""); // the notebook's address is its own
});

test("a number that was set by hand says so, and shows no arithmetic", () => {
  const model = kernel("cell", { ...cell("scores[t=0]", -20), source: "edit", was: 42.46, how: { kind: "given" } }, () => [{}, []]);
  const el = document.createElement("div");
  widget("").render({ model, el });
  expect(el.textContent).toContain("Set by hand (was 42.46)");
  expect(el.textContent).not.toContain("Sum:");
});

test("a diagram opens a block", () => {
  const box = (name: string, parameters: number, y: number) => ({
    name, kind: "block", title: name, pieces: [[name, false]], note: "", shape: "4 × 12", part: "norm", parameters, open: null, x: 0, y, width: 100, height: 30,
  });
  const first = {
    label: "small", parameters: 12, lines: { a: [], b: [{ name: "gamma", formula: "d_model", numbers: "12", count: 12 }] },
    diagram: { label: "small", width: 120, height: 90, boxes: [box("a", 0, 0), box("b", 12, 50)], arrows: [{ source: "a", target: "b", label: "4 × 12", at: [42, 40], points: [[50, 30], [50, 50]], ends: true, head: [] }] },
  };
  const el = document.createElement("div");
  widget("").render({ model: kernel("encoder", first, () => [{}, []]), el });
  fireEvent.keyDown(el.querySelectorAll(".block")[1]!, { key: "Enter" });
  return waitFor(() => expect(el.querySelector("table")?.textContent).toBe("gammad_model1212"));
});

test("what the kernel refuses, and a kernel that is gone, are said", async () => {
  const [ask] = asker(kernel("cell", {}, () => [{ error: "no such cell." }, []]));
  await expect(ask({ ask: "cell" })).rejects.toThrow("no such cell.");
  const gone: Model = { get: () => null, on: () => {}, off: () => {}, send: () => {} };
  await expect(asker(gone, 5)[0]({})).rejects.toThrow("is not responding");
});

test("light or dark is the notebook's matter, and the page around is left alone", () => {
  const body = document.createElement("body");
  body.dataset.jpThemeLight = "false";
  expect(notebookTheme(body)).toBe("dark");
  body.dataset.jpThemeLight = "true";
  expect(notebookTheme(body)).toBe("light");
  expect(document.documentElement.dataset.theme).toBeUndefined();
  expect(starts(100, 48)).toEqual([0, 48, 96]);
});
