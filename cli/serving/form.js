// The policy as a form. What the server reads of a policy goes in, what somebody changes comes out.
"use strict";

const KINDS = [["labels", "labels"], ["ordered", "labels in order"], ["numbers", "numbers"]];
const SECRETS = [
  ["full", "everything"],
  ["attribute", "each column by itself"],
  ["partition", "everything but the group"],
  ["distance", "values that are near each other"],
];

function made(name, properties = {}, ...children) {
  const { data = {}, ...others } = properties;
  const found = Object.assign(document.createElement(name), others);
  Object.assign(found.dataset, data);
  found.append(...children);
  return found;
}

const chooser = (options, value, properties) => {
  const found = made("select", properties);
  for (const [key, words] of options) {
    found.append(made("option", { value: key, selected: key === value }, words));
  }
  return found;
};

const ticks = (names, chosen, group) =>
  names.map((name) =>
    made("label", { className: "tick" },
      made("input", { type: "checkbox", checked: chosen.includes(name), value: name,
        data: { group } }), ` ${name}`));

export class Form {
  // `changed` is called when somebody changed something; `off` are facts that are switched off.
  constructor(root, changed) {
    this.root = root;
    this.changed = changed; // (at once?): a tick is final, a text goes on
    this.off = [];
    this.fields = null;
    root.addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["attributes", "secrets", "known"]) {
      root.querySelector(`#${name}`).addEventListener("input", (event) =>
        this.read(event.target.type === "checkbox" || event.target.tagName === "SELECT"));
    }
  }

  part(name, ...rows) {
    const place = this.root.querySelector(`#${name}`);
    place.replaceChildren(place.querySelector("legend"), ...rows);
  }

  get names() {
    return this.fields.attributes.map((item) => item.name);
  }

  show(fields) {
    this.fields = fields;
    this.showAttributes();
    this.showSecrets();
    this.showKnown();
  }

  showAttributes() {
    const rows = this.fields.attributes.map((item, place) => {
      const remove = made("button", { type: "button", title: "leave this column out" }, "−");
      remove.setAttribute("aria-label", `leave out ${item.name}`);
      remove.addEventListener("click", () => {
        this.fields.attributes.splice(place, 1);
        this.showAttributes();
        this.changed();
      });
      return made("div", { className: "row", data: { attribute: place } },
        this.labelled(made("input", { className: "name", value: item.name }), "name of the column"),
        this.labelled(chooser(KINDS, item.kind, { className: "kind" }), `kind of ${item.name}`),
        this.labelled(made("input", { className: "values", value: item.values, spellcheck: false }),
          `values of ${item.name}`), remove);
    });
    const add = made("button", { type: "button" }, "Add a column");
    add.addEventListener("click", () => {
      const name = `column${this.fields.attributes.length + 1}`;
      this.fields.attributes.push({ name, kind: "labels", values: "yes, no" });
      this.showAttributes();
      this.changed();
    });
    this.part("attributes", ...rows, add);
  }

  labelled(input, words) {
    input.setAttribute("aria-label", words);
    return input;
  }

  showSecrets() {
    const secrets = this.fields.secrets;
    const options = secrets.kind ? SECRETS : [["", secrets.words], ...SECRETS];
    const kind = chooser(options, secrets.kind, { id: "secret" });
    kind.setAttribute("aria-label", "what nobody may find out");
    const rows = [kind];
    if (secrets.kind === "attribute") {
      rows.push(made("label", {}, " differing in at most ",
        made("input", { id: "changes", value: secrets.changes, size: 3 }), " columns"));
    } else if (secrets.kind === "partition") {
      rows.push(made("span", {}, " the group is given by "), ...ticks(this.names, secrets.by, "by"));
    } else if (secrets.kind === "distance") {
      rows.push(made("label", {}, " at most ",
        made("input", { id: "threshold", value: secrets.threshold, size: 4 }), " apart in "),
      ...ticks(this.names, secrets.attributes.length ? secrets.attributes : this.names, "near"));
    }
    this.part("secrets", made("div", { className: "row" }, ...rows));
  }

  showKnown() {
    const { known, size, answers, scope } = this.fields;
    const usual = `${scope} numbers, as usual`;
    const rows = [...known.map((fact, place) => this.fact(fact, place, true)),
      ...this.off.map((fact, place) => this.fact(fact, place, false))];
    const adding = made("div", { className: "row" }, "Counts by ", ...ticks(this.names, [], "new"));
    const add = made("button", { type: "button", id: "add-known" }, "are public");
    add.addEventListener("click", () => {
      const chosen = [...adding.querySelectorAll("input:checked")].map((tick) => tick.value);
      if (!chosen.length) return;
      known.push({ words: `counts by ${chosen.join(" and ")}`, marginal: chosen, source: "" });
      this.showKnown();
      this.changed();
    });
    adding.append(add);
    const whose = chooser([["", usual], ["any", "any numbers"], ["given", "the given numbers"]], answers,
      { id: "answers" });
    this.part("known", ...rows, adding, made("div", { className: "row" },
      made("label", {}, "How many records: ",
        made("input", { id: "size", value: size, size: 8, inputMode: "numeric",
          placeholder: "not public" })),
      made("label", {}, "Judged for ", whose)));
  }

  fact(fact, place, on) {
    const tick = made("input", { type: "checkbox", checked: on, data: { fact: place } });
    tick.addEventListener("input", (event) => {
      event.stopPropagation();
      const [from, to] = on ? [this.fields.known, this.off] : [this.off, this.fields.known];
      to.push(...from.splice(place, 1));
      this.showKnown();
      this.changed(true);
    });
    const row = made("div", { className: on ? "row" : "row off", data: on ? { known: place } : {} },
      made("label", {}, tick, ` ${fact.words}`));
    if (on) row.append(made("span", { className: "cost" }));
    return row;
  }

  // Say beside each fact what it costs.
  costs(items) {
    for (const row of this.root.querySelectorAll("[data-known]")) {
      const found = items.find((item) => String(item.fact) === row.dataset.known);
      row.querySelector(".cost").textContent = found ? found.words : "";
    }
  }

  // Read what somebody changed.
  read(final) {
    const value = (id) => this.root.querySelector(`#${id}`)?.value;
    const group = (name) =>
      [...this.root.querySelectorAll(`[data-group=${name}]:checked`)].map((tick) => tick.value);
    const fields = this.fields;
    for (const row of this.root.querySelectorAll("[data-attribute]")) {
      const item = fields.attributes[row.dataset.attribute];
      const values = row.querySelector(".values");
      const kind = row.querySelector(".kind").value;
      if (kind === "numbers" && !values.value.includes("..")) values.value = "0..9";
      if (kind !== "numbers" && values.value.includes("..")) values.value = "yes, no";
      Object.assign(item, { name: row.querySelector(".name").value, kind, values: values.value });
    }
    const before = fields.secrets.kind;
    const secrets = { ...fields.secrets, kind: value("secret") };
    if (before === secrets.kind) {
      secrets.changes = value("changes") ?? secrets.changes;
      secrets.threshold = value("threshold") ?? secrets.threshold;
      if (secrets.kind === "partition") secrets.by = group("by");
      if (secrets.kind === "distance") secrets.attributes = group("near");
    } else if (secrets.kind === "partition" && !secrets.by.length) {
      secrets.by = this.names.slice(0, 1);
    }
    fields.secrets = secrets;
    if (before !== secrets.kind) this.showSecrets();
    fields.size = value("size");
    fields.answers = value("answers");
    this.changed(final);
  }
}
