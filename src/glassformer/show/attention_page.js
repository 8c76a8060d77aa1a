// Draws the chosen head of a page made by attention_html.py. Words reach the page as text only: textContent and fillText.
(function (root) {
  "use strict";
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const canvas = root.querySelector(".view canvas");
  const output = root.querySelector("output");
  const note = root.querySelector(".note");
  const bar = root.querySelector(".scale canvas");
  const ends = root.querySelectorAll(".scale span");
  const form = root.querySelector("form");
  const { layer, head, from, to, source_from, source_to } = form.elements;
  const queries = { name: data.keys ? "target tokens" : "tokens", words: data.words, from, to };
  const keys = data.keys ? { name: "source tokens", words: data.keys, from: source_from, to: source_to } : queries;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const LABELLED = 11; // pixels that a word needs
  const LONGEST = 16; // letters of a label
  let weights = null; // the chosen head: a byte for each weight, the level of its square root
  let shown = { rows: { first: 0, last: 0 }, columns: { first: 0, last: 0 }, cell: 1, left: 0, top: 0 };
  let at = null; // [query, key]
  let asked = 0;

  function colours() {
    const stops = dark.matches ? data.dark : data.light;
    const table = [];
    for (let level = 0; level <= data.levels; level++) {
      const place = colourPlace(level) * (stops.length - 1);
      const left = Math.min(Math.floor(place), stops.length - 2);
      table.push(stops[left].map((part, i) => Math.round(part + (stops[left + 1][i] - part) * (place - left))));
    }
    return table;
  }

  // Few tokens: the weight itself is coloured. Many: its square root, or all would be white. The scale ends where the weights do.
  function colourPlace(level) {
    const share = Math.min(1, weightOf(level) / data.top);
    return data.linear ? share : Math.sqrt(share);
  }

  function weightOf(level) {
    return (level / data.levels) ** 2;
  }

  function cut(text) {
    return text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text;
  }

  async function choose() {
    const turn = ++asked;
    const packed = atob(data.grids[layer.selectedIndex][head.selectedIndex]);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    if (typeof DecompressionStream === "undefined") {
      note.textContent = "This browser is too old to unpack the weights: one from 2023 or later can.";
      return;
    }
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const unpacked = new Uint8Array(await new Response(stream).arrayBuffer());
    if (turn !== asked) return; // another head was chosen meanwhile
    weights = unpacked;
    draw();
    say();
  }

  // The first and the last token of a side, from its two fields.
  function range(side) {
    const count = side.words.length;
    const first = Math.min(Math.max(0, Math.round(Number(side.from.value) || 0)), count - 1);
    const last = Math.min(Math.max(first, Math.round(Number(side.to.value) || 0)), count - 1);
    side.from.value = first;
    side.to.value = last;
    return { first, last, count: last - first + 1, words: side.words.slice(first, last + 1).map(cut) };
  }

  function draw() {
    if (!weights) return;
    const rows = range(queries);
    const columns = range(keys);
    const pen = canvas.getContext("2d");
    const font = "12px system-ui, sans-serif";
    pen.font = font;
    const room = Math.max(240, root.clientWidth - 40);
    const widest = (words) => Math.ceil(Math.max(...words.map((text) => pen.measureText(text).width))) + 8;
    const wide = widest(rows.words);
    const most = Math.max(rows.count, columns.count);
    let cell = Math.min(40, Math.floor((room - wide) / columns.count));
    const labelled = cell >= LABELLED || most <= 64;
    if (labelled) cell = Math.max(cell, LABELLED + 1);
    else cell = Math.max(2, Math.floor((room - 8) / columns.count));
    const left = labelled ? wide : 4;
    const top = labelled ? widest(columns.words) : 4;
    const across = cell * columns.count;
    const down = cell * rows.count;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = (left + across + 4) * ratio;
    canvas.height = (top + down + 4) * ratio;
    canvas.style.width = left + across + 4 + "px";
    canvas.style.height = top + down + 4 + "px";
    pen.scale(ratio, ratio);
    shown = { rows, columns, cell, left, top };

    const table = colours();
    const image = new ImageData(columns.count, rows.count);
    for (let row = 0; row < rows.count; row++) {
      for (let column = 0; column < columns.count; column++) {
        const colour = table[weights[(rows.first + row) * keys.words.length + columns.first + column]];
        image.data.set([...colour, 255], 4 * (row * columns.count + column));
      }
    }
    const small = document.createElement("canvas");
    small.width = columns.count;
    small.height = rows.count;
    small.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, left, top, across, down);
    const style = getComputedStyle(root);
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.strokeRect(left - 0.5, top - 0.5, across + 1, down + 1);
    if (labelled) drawWords(pen, font, style);
    if (at) drawPlace(pen);
    tell(labelled);
    drawScale(table);
  }

  function drawWords(pen, font, style) {
    const { left, top, cell, rows, columns } = shown;
    pen.font = font;
    pen.textBaseline = "middle";
    rows.words.forEach((text, i) => {
      pen.fillStyle = at && at[0] === rows.first + i ? style.getPropertyValue("--act") : style.color;
      pen.textAlign = "right";
      pen.fillText(text, left - 5, top + (i + 0.5) * cell);
    });
    columns.words.forEach((text, i) => {
      pen.fillStyle = at && at[1] === columns.first + i ? style.getPropertyValue("--act") : style.color;
      pen.save();
      pen.translate(left + (i + 0.5) * cell, top - 5);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(text, 0, 0);
      pen.restore();
    });
  }

  function drawPlace(pen) {
    const { left, top, cell, rows, columns } = shown;
    pen.strokeStyle = "#d97a1e";
    pen.lineWidth = 2;
    pen.strokeRect(left + (at[1] - columns.first) * cell, top + (at[0] - rows.first) * cell, cell, cell);
    pen.lineWidth = 1;
  }

  function tell(labelled) {
    const parts = data.keys ? [[queries, shown.rows], [keys, shown.columns]] : [[queries, shown.rows]];
    const cutShort = parts
      .filter(([side, part]) => part.count < side.words.length)
      .map(([side, { first, last }]) => `Showing ${side.name} ${first} to ${last} of ${side.words.length}; choose a range. `);
    const most = Math.max(shown.rows.count, shown.columns.count);
    const bare = labelled ? "" : `${most} tokens are too many for words at the sides: point at a cell, or choose a shorter range. `;
    const sides = data.keys ? "Rows are target tokens, columns are source tokens" : "Rows are queries, columns are keys";
    note.textContent = `${cutShort.join("")}${bare}${sides}; arrow keys move from cell to cell.`;
  }

  function drawScale(table) {
    const pen = bar.getContext("2d");
    for (let x = 0; x < bar.width; x++) {
      const place = x / (bar.width - 1);
      const weight = (data.linear ? place : place * place) * data.top;
      pen.fillStyle = `rgb(${table[Math.round(Math.sqrt(weight) * data.levels)].join(",")})`;
      pen.fillRect(x, 0, 1, bar.height);
    }
    ends[1].textContent = data.linear ? `${data.top}` : `${data.top} (coloured by its root; the middle is ${data.top / 4})`;
  }

  function say() {
    if (!at || !weights) {
      output.textContent = "";
      return;
    }
    const [query, key] = at;
    const weight = weightOf(weights[query * keys.words.length + key]);
    output.textContent = `${queries.words[query]} (${query}) → ${keys.words[key]} (${key}): ${weight.toFixed(4)}`;
  }

  function within(place, { first, last }) {
    return Math.min(Math.max(place, first), last);
  }

  function move(query, key) {
    at = [within(query, shown.rows), within(key, shown.columns)];
    draw();
    say();
  }

  canvas.addEventListener("mousemove", (event) => {
    const { rows, columns, cell, left, top } = shown;
    const box = canvas.getBoundingClientRect();
    const key = Math.floor((event.clientX - box.left - left) / cell) + columns.first;
    const query = Math.floor((event.clientY - box.top - top) / cell) + rows.first;
    const inside = query === within(query, rows) && key === within(key, columns);
    if (inside && (!at || at[0] !== query || at[1] !== key)) move(query, key);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const [query, key] = at || [shown.rows.first, shown.columns.first];
    if (at) move(query + step[0], key + step[1]);
    else move(query, key);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  layer.addEventListener("change", choose);
  head.addEventListener("change", choose);
  for (const field of new Set([from, to, keys.from, keys.to])) field.addEventListener("change", () => { at = null; draw(); say(); });
  dark.addEventListener("change", draw);
  window.addEventListener("resize", draw);
  choose();
})(document.currentScript.closest(".gf-attention"));
