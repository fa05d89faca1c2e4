// Plots by Vega, which is fetched from this server when the first one is to be drawn. Expressions
// are interpreted: the page allows no code that is made of text. Arrow keys step through a plot.
"use strict";

let loading = null;
const vega = () => (loading ??= import("./vega.js"));

const soft = { labelColor: "var(--soft)", titleColor: "var(--soft)", labelFontSize: 13,
  titleFontSize: 13, titleFontWeight: "normal" };
const LOOK = {
  background: null,
  font: "system-ui, sans-serif",
  view: { stroke: null },
  padding: { left: 0, top: 4, right: 6, bottom: 0 },
  axis: { ...soft, gridColor: "var(--rule)", domainColor: "var(--rule)", tickColor: "var(--rule)",
    labelLimit: 230 },
  legend: { ...soft, labelColor: "var(--ink)", labelLimit: 320, symbolStrokeWidth: 2.5 },
  text: { color: "var(--ink)", fontSize: 13 },
};
const NARROW = 480;
const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

const made = (name, text = "", attributes = {}) => {
  const found = document.createElement(name);
  found.textContent = text;
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
};

function bodyOf(rows) {
  const body = made("tbody");
  for (const [first, ...rest] of rows) {
    const row = made("tr");
    row.append(made("th", first, { scope: "row" }), ...rest.map((cell) => made("td", cell)));
    body.append(row);
  }
  return body;
}

function tableOf({ heads, rows }) {
  const all = made("details");
  const top = made("tr");
  top.append(...heads.map((word) => made("th", word, { scope: "col" })));
  const head = made("thead");
  head.append(top);
  const table = made("table");
  table.append(head, bodyOf(rows));
  const wide = made("div", "", { class: "wide", tabindex: 0, role: "region", "aria-label": "table" });
  wide.append(table);
  all.append(made("summary", "The same as a table"), wide);
  return all;
}

// A plot in its figure: drawn once the figure can be seen, and again as wide as it becomes.
export class Plot {
  constructor(figure, spec) {
    this.spec = spec;
    this.chosen = -1;
    this.view = null;
    this.words = [...new Set(spec.data.values.map((row) => row.words))];
    this.place = made("div", "", { class: "canvas" });
    this.said = made("figcaption", "", { "aria-live": "polite" });
    this.inner = made("div"); // Vega writes its own words on what it is given
    this.place.append(this.inner);
    figure.replaceChildren(this.place, this.said);
    if (spec.usermeta?.table) figure.append(tableOf(spec.usermeta.table));
    const many = `${this.words.length} numbers; arrow keys step through them`;
    for (const [key, value] of Object.entries({ tabindex: 0, role: "group",
      "aria-label": `${spec.description}: ${many}` })) this.place.setAttribute(key, value);
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.place);
  }

  async fit() {
    const wide = this.place.clientWidth;
    if (!wide || wide === this.wide || !this.place.isConnected) return;
    this.wide = wide;
    if (this.view?.signal) {
      this.view.signal("width", wide);
      await this.view.resize().runAsync();
    } else if (!this.view) await this.draw();
  }

  async draw() {
    this.view = "coming";
    const { View, compile, expressionInterpreter, parse } = await vega();
    const axis = { ...LOOK.axis, ...(this.wide < NARROW ? { labelLimit: 0.42 * this.wide } : {}) };
    const { spec } = compile(this.spec, { config: { ...LOOK, axis } });
    this.view = new View(parse(spec, null, { ast: true }), { expr: expressionInterpreter,
      renderer: "svg", container: this.inner, hover: false, tooltip: () => {} });
    this.view.addEventListener("pointermove", (_, item) => {
      const found = this.words.indexOf(item?.datum?.words);
      if (found >= 0) this.choose(found);
    });
    await this.view.runAsync();
    this.height = this.place.offsetHeight;
  }

  key(event) {
    const last = this.words.length - 1;
    const to = { Home: 0, End: last }[event.key] ?? this.chosen + moves[event.key];
    if (Number.isNaN(to)) return;
    event.preventDefault();
    this.choose(Math.min(Math.max(to, 0), last));
  }

  choose(place) {
    if (place === this.chosen || !this.view?.signal) return;
    this.chosen = place;
    this.said.textContent = this.words[place];
    this.view.signal("chosen", this.words[place]).runAsync();
  }

  // The same plot with other rows, here and in its table: what comes while somebody looks.
  async change(rows, table) {
    this.place.parentElement?.querySelector("tbody")?.replaceWith(bodyOf(table));
    this.words = rows.map((row) => row.words);
    this.spec.data.values = rows;
    // Rows are copied: Vega marks those that it was given.
    if (this.view?.data) await this.view.data("rows", rows.map((row) => ({ ...row }))).runAsync();
  }
}

// Draw the plots of a part of the page; a plot that is what it was before stays where it is.
const shown = new Map();
export function drawn(part, plots) {
  for (const figure of part.querySelectorAll("[data-plot]")) {
    const name = figure.dataset.plot;
    const text = JSON.stringify(plots[name]);
    const before = shown.get(name);
    if (before?.text === text) {
      figure.replaceWith(before.figure);
      continue;
    }
    if (before) before.plot.watch.disconnect();
    if (before?.plot.height) figure.style.minHeight = `${before.plot.height}px`;
    shown.set(name, { text, figure, plot: new Plot(figure, plots[name]) });
  }
}
