// The workbench: asks at every change, shows what comes, and holds its state in the address.
"use strict";
import { Closing, spaced } from "./closing.js";
import { Form } from "./form.js";
import { drawn } from "./plots.js";
import { LONGEST_LINK, events, halt, pack, unpack } from "./state.js";

const PAUSE = 120;
const PATIENCE = 5000;
const HOLDS = "stopped: what is shown holds";
const MOST = 1000000;
const TOO_LARGE = "this is too large for a page (more than a million characters): nothing was "
  + "pasted\n  try: blowproof audit FILE in a terminal";
const at = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") ?? "";
const state = { text: "", name: "policy", place: "folder", query: "histogram", epsilon: "1",
  reading: "published", off: [] };
const closing = new Closing(at("closing"));
let asking = null;
let soon = 0;
let started = 0;

const form = new Form(at("form"), (final) => ask({ from: "form", pause: final ? 0 : PAUSE }));

const show = (words, kind) => {
  at("state").textContent = words;
  at("now").classList.toggle("open", kind === "open");
};

// What is shown is about another question until that part of the answer has come.
const age = () => {
  for (const part of document.querySelectorAll("[data-part], #headline")) part.classList.add("old");
};

const empty = () => {
  for (const part of document.querySelectorAll("[data-part].old")) part.replaceChildren();
};

const fail = (words) => {
  at("wrong").textContent = words;
  age();
};

// --- the state, in the address -------------------------------------------------------------------

async function remember(add) {
  const packed = await pack(state);
  const long = packed.length > LONGEST_LINK;
  if (long) sessionStorage.setItem("blowproof", packed);
  const address = `${location.pathname}${location.search}#${long ? "long" : packed}`;
  history[add ? "pushState" : "replaceState"](null, "", address);
  return !long;
}

async function recalled() {
  const hash = location.hash.slice(1);
  return unpack(hash === "long" ? sessionStorage.getItem("blowproof") ?? "" : hash);
}

function take(found) {
  Object.assign(state, found);
  form.off = state.off ?? [];
  at("text").value = state.text;
  at("query").value = state.query;
  at("epsilon").value = state.epsilon;
  at("reading").value = state.reading;
  document.title = `${state.name}: blowproof workbench`;
}

// --- what is shown -------------------------------------------------------------------------------


function bounds(lower, upper) {
  const exact = lower === upper;
  at("headline").classList.remove("old");
  at("headline").textContent = exact ? `S = ${spaced(lower)}`
    : upper === null ? `${spaced(lower)} ≤ S` : `${spaced(lower)} ≤ S ≤ ${spaced(upper)}`;
  const size = (text) => {
    const [above, below = "1"] = String(text).split("/");
    return Math.log1p(Number(above) / Number(below));
  };
  const most = upper === null ? size(lower) + 1 : Math.max(size(upper), 1e-9);
  at("span").style.left = exact ? "0%" : `${(100 * size(lower)) / most}%`;
  at("span").style.right = "0%";
}

function fill({ html, plots }) {
  for (const [name, text] of Object.entries(html)) {
    const place = document.querySelector(`[data-part=${name}]`);
    if (!place) continue;
    place.innerHTML = text; // escaped by the server, part by part
    place.classList.remove("old");
    drawn(place, plots);
    if (name === "pair") stepThrough(place);
  }
}

// How long it has taken: beside the state, which is read aloud, and not part of it.
const seconds = () => (performance.now() - started) / 1000;
const tick = () => {
  at("elapsed").textContent = `${seconds().toFixed(1)} s`;
};
setInterval(() => asking && !asking.answered && tick(), 200);

const handlers = {
  policy(event, from) {
    at("wrong").textContent = "";
    if (from === "form") at("text").value = state.text = event.text;
    const active = document.activeElement;
    const typing = from === "form" && at("form").contains(active) && active.type !== "checkbox";
    form.fields = event.form;
    if (!typing) {
      const id = active?.id;
      form.show(event.form);
      if (id && at("form").contains(at(id))) at(id).focus();
    }
    at("queries").replaceChildren(...event.queries.map((name) => new Option(name, name)));
    remember(false);
  },
  bounds(event) {
    bounds(event.lower, event.upper);
    closing.add(seconds(), event.lower, event.upper);
    show(event.what || "searching", "open");
  },
  starting() {
    show("loading the solvers: some seconds, once");
  },
  waiting() {
    show("other pages ask as well: waiting for them");
  },
  answer(event) {
    bounds(event.lower, event.upper);
    closing.add(seconds(), event.lower, event.upper);
    const ended = event.more_time_helps === false;
    const open = `open: ${ended ? "more time will not help" : "the search was stopped"}`;
    const words = event.status === "bounds" ? open : event.status;
    show(words, event.status === "bounds" ? "open" : "");
    tick();
    asking.answered = true;
    at("now").dataset.answered = String(Number(at("now").dataset.answered ?? 0) + 1);
    fill(event);
  },
  rest(event) {
    fill(event);
    form.costs(event.costs);
  },
  plan: (event) => fill(event),
  odds: (event) => fill(event),
  report(event) {
    download(`${state.name}.html`, event.html, "text/html");
    show("the report was saved");
  },
  error(event) {
    fail(event.message);
    show(`not understood: ${event.message.split("\n")[0]}`);
    if (event.line) mark(event.line);
  },
  lost(event) {
    fail(event.message);
    show("ended");
  },
  done() {
    empty();
    if (asking?.halted) show(HOLDS, at("now").className);
  },
};

function mark(line) {
  at("text").dataset.line = line;
}

function download(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// --- asking --------------------------------------------------------------------------------------

function question(from, job) {
  const { text, name, place, query, epsilon, reading } = state;
  const asked = { name, place, query, epsilon, reading, job };
  if (from !== "form") return { ...asked, text };
  const comment = /^(?:#[^\n]*\n|\s*\n)*/.exec(text)[0];
  return { ...asked, form: form.fields, comment };
}

function stop(words) {
  clearTimeout(soon);
  asking?.abort();
  asking = null;
  at("stop").disabled = true;
  if (words) show(words, at("now").className);
}

// Ends the search: the worker comes back with its bounds and a pair, or is ended where it does not.
function halted() {
  const mine = asking;
  if (!mine || mine.halted) return;
  mine.halted = true;
  at("stop").disabled = true;
  show("stopping", "open");
  halt(mine.id, token);
  setTimeout(() => {
    if (asking === mine) stop(HOLDS);
  }, PATIENCE);
}

function ask({ from = "text", job = "all", pause = PAUSE } = {}) {
  stop();
  soon = setTimeout(() => run(from, job), pause);
}

async function run(from, job) {
  const mine = new AbortController();
  mine.id = crypto.randomUUID();
  asking = mine;
  at("stop").disabled = false;
  started = performance.now();
  show("asking");
  closing.begin();
  age();
  state.off = form.off;
  try {
    for await (const event of events({ id: mine.id, ...question(from, job) }, token,
      mine.signal)) {
      if (asking !== mine) return;
      handlers[event.kind]?.(event, from);
    }
  } catch (error) {
    if (asking !== mine) return;
    fail(error instanceof TypeError ? "the workbench cannot be reached: is it still running?"
      : error.message);
    show("no answer");
  }
  if (asking === mine) {
    asking = null;
    at("stop").disabled = true;
  }
}

// --- what somebody does --------------------------------------------------------------------------

const tooLong = (text) => {
  if (text.length <= MOST) return false;
  fail(TOO_LARGE);
  return true;
};

at("text").addEventListener("paste", (event) => {
  if (tooLong(event.clipboardData?.getData("text") ?? "")) event.preventDefault();
});
at("text").addEventListener("input", () => {
  if (tooLong(at("text").value)) {
    at("text").value = state.text;
    return;
  }
  state.text = at("text").value;
  form.off = [];
  remember(false);
  ask();
});
for (const [id, kind] of [["query", "input"], ["epsilon", "input"], ["reading", "change"]]) {
  at(id).addEventListener(kind, () => {
    state[id] = at(id).value;
    remember(false);
    ask();
  });
}
at("stop").addEventListener("click", halted);
at("report").addEventListener("click", () => ask({ job: "report", pause: 0 }));
at("save").addEventListener("click", () =>
  download(`${state.name}.toml`, state.text, "application/toml"));
at("link").addEventListener("click", async () => {
  if (!(await remember(false))) return show("this policy is too long for a link: save it instead");
  try {
    await navigator.clipboard.writeText(location.href);
    return show("the link is on the clipboard; it works while this workbench runs");
  } catch {
    return show("copy it from the address: the link holds everything");
  }
});
at("open").addEventListener("change", async () => {
  const [place, name] = JSON.parse(at("open").value || "[]");
  if (!name) return;
  const asked = new URLSearchParams({ place, name });
  const answer = await fetch(`policy?${asked}`, { headers: { "x-blowproof-token": token } });
  const text = await answer.text();
  if (!answer.ok) return fail(text);
  await remember(true);
  take({ text, name: name.replace(/\.toml$/, ""), place, query: "histogram", off: [] });
  return ask({ pause: 0 });
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address holds the state, and keeps it
  at("results").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") halted();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask({ pause: 0 });
});
// On paper the policy is not cut off where its field ends.
addEventListener("beforeprint", () => {
  at("printed").textContent = at("text").value;
});
addEventListener("popstate", async () => {
  const found = await recalled();
  if (found) {
    take(found);
    ask({ pause: 0 });
  }
});

async function begin() {
  const answer = await fetch("policies", { headers: { "x-blowproof-token": token } });
  const listed = answer.ok ? await answer.json() : [];
  for (const place of ["folder", "examples"]) {
    const group = document.createElement("optgroup");
    group.label = place === "folder" ? "in this folder" : "examples";
    for (const item of listed) {
      if (item.place !== place) continue;
      group.append(new Option(item.name, JSON.stringify([place, item.name])));
    }
    if (group.children.length) at("open").append(group);
  }
  const found = await recalled();
  if (found) {
    take(found);
    return ask({ pause: 0 });
  }
  const first = listed.find((item) => item.place === "folder") ?? listed.find((item) =>
    item.name === "census.toml");
  if (!first) return show("open a policy, or write one");
  at("open").value = JSON.stringify([first.place, first.name]);
  return at("open").dispatchEvent(new Event("change"));
}
begin();
