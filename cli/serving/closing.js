// How the bounds on S close while a search goes on: a plot that grows with every bound that comes.
"use strict";
import { Plot } from "./plots.js";

const AFTER = 0.4; // seconds: what is known sooner needs no plot
const MOST = 400; // rows; of more, every other one goes
const HUGE = 1e300;

// A number as the report has it: of very large ones, only how large they are.
export const spaced = (number) => {
  const text = String(number);
  return /^\d{19,}$/.test(text) ? `about 10^${text.length - 1}`
    : text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
};

const size = (text) => {
  const [above, below = "1"] = String(text).split("/");
  return Math.min(Number(above) / Number(below), HUGE);
};

// Where the axis has its marks: a logarithmic one by itself has none between its ends.
const marks = (most) => {
  const digits = Math.ceil(Math.log10(Math.max(most, 1)));
  const found = [0];
  for (let power = 0; power <= digits; power += Math.max(1, Math.ceil(digits / 4))) {
    for (const times of digits <= 2 ? [1, 2, 5] : [1]) found.push(times * 10 ** power);
  }
  return found;
};

const spec = (most) => ({
  description: "The bounds on S, from below and from above, against the seconds of the search",
  width: "container",
  height: 110,
  usermeta: { table: { heads: ["seconds", "S is at least", "S is at most"], rows: [] } },
  autosize: { type: "fit-x", contains: "padding" },
  data: { name: "rows", values: [] },
  params: [{ name: "chosen", value: "" }],
  encoding: {
    x: { field: "at", type: "quantitative", title: "seconds", axis: { tickCount: 6 },
      scale: { domainMin: 0 } },
    y: { field: "value", type: "quantitative", title: "S", scale: { type: "symlog" },
      axis: { values: marks(most),
        labelExpr: "datum.value >= 1e15 ? format(datum.value, '.0e') : format(datum.value, '~s')" } },
    color: { field: "side", type: "nominal", sort: null,
      legend: { title: null, orient: "right", symbolType: "stroke" },
      scale: { domain: ["at most", "at least"], range: ["var(--warn)", "var(--main)"] } },
  },
  layer: [
    { mark: { type: "line", interpolate: "step-after", strokeWidth: 2.5, aria: false } },
    { mark: { type: "point", filled: true, opacity: 1 },
      encoding: { description: { field: "words" },
        size: { condition: { test: "datum.words === chosen", value: 110 }, value: 18 } } },
  ],
});

export class Closing {
  constructor(place) {
    this.place = place;
    this.begin();
  }

  begin() {
    this.rows = [];
    this.latest = {};
    this.plot = null;
    this.soon = 0;
    this.place.hidden = true;
  }

  // Bounds that came after so many seconds; drawn once somebody has waited.
  add(seconds, lower, upper) {
    for (const [side, value] of [["at least", lower], ["at most", upper]]) {
      if (value === null) continue;
      const words = `after ${seconds.toFixed(1)} s: S is ${side} ${spaced(value)}`;
      const row = { at: seconds, value: size(value), said: spaced(value), side, words };
      const last = this.latest[side];
      // Where a bound has stayed, its last point moves on: the line gets longer, not the list.
      if (last?.stays && last.value === row.value) Object.assign(last, row);
      else {
        row.stays = last?.value === row.value;
        this.latest[side] = row;
        this.rows.push(row);
      }
    }
    const open = this.rows.filter((row) => !row.stays).length > 2 || lower !== upper;
    if (this.rows.length > MOST) this.rows = this.rows.filter((_, place) => place % 2);
    if (open && seconds >= AFTER) this.soon ||= requestAnimationFrame(() => this.show());
  }

  // What was known when: a row for each time at which a bound got better.
  table() {
    const known = { "at least": "", "at most": "" };
    const rows = new Map();
    for (const { at, side, said, stays } of this.rows) {
      if (stays) continue;
      known[side] = said;
      const when = at.toFixed(1);
      rows.set(when, [when, known["at least"], known["at most"]]);
    }
    return [...rows.values()];
  }

  async show() {
    this.place.hidden = false;
    if (!this.plot) {
      const figure = document.createElement("figure");
      figure.className = "drawn";
      this.place.querySelector("figure")?.remove();
      this.place.append(figure);
      this.plot = new Plot(figure, spec(Math.max(...this.rows.map((row) => row.value))));
    }
    await this.plot.change(this.rows, this.table());
    this.soon = 0;
  }
}
