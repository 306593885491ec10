"use strict";

// The server holds the state; every request returns all of it, and `show` draws it.
// Texts of the table only ever become text nodes.

const POLL = 2000;
const get = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let state = null;
let busy = false;
let actions = 0;
let ended = false;

function make(name, text, attributes = {}) {
  const node = document.createElement(name);
  node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function draw(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// -- requests --------------------------------------------------------------------------------

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify(body),
  };
  const response = await fetch(path, {cache: "no-store", ...options});
  return {ok: response.ok, status: response.status, found: await response.json()};
}

// Send an action; return whether it was stored. Only one is under way at a time.
async function act(path, body) {
  if (busy || ended) return false;
  busy = true;
  actions += 1;
  document.body.setAttribute("aria-busy", "true");
  try {
    const {ok, found} = await ask(path, body);
    if (ok) {
      hideProblem();
      show(found);
    } else {
      showProblem(found.error, found.code === "answered_elsewhere" ? body : null);
      if (found.state) show(found.state);
    }
    return ok;
  } catch (error) {
    showProblem("The server does not answer, so this was not stored; start semisquares label again, and reload this page.", null);
    return false;
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

async function poll() {
  if (!ended && !busy && !document.hidden) {
    const before = actions;
    try {
      const {ok, found} = await ask("state");
      if (ok && actions === before) show(found);  // a state from before an answer is old
    } catch (error) {
      // the next action reports it
    }
  }
  setTimeout(poll, POLL);
}

// -- answers ---------------------------------------------------------------------------------

async function answer(kind, label) {
  if (!state || !state.row) return;
  const body = {row: state.row.index, turn: state.turn, kind, note: get("note").value};
  if (label !== undefined) body.label = label;
  if (await act("answer", body)) get("title").focus({preventScroll: true});
}

const undo = () => state && act("undo", {turn: state.turn});

async function addClass(event) {
  event.preventDefault();
  const name = get("new-name").value;
  if (await act("class", {name})) {
    get("new-name").value = "";
    get("title").focus({preventScroll: true});
  }
}

async function finish() {
  if (!await act("finish", {})) return;
  ended = true;
  get("title").textContent = "Finished";
  get("why").textContent = "The labels are in " + state.out + ". You can close this page.";
  get("cells").hidden = get("answers").hidden = true;
  for (const button of document.querySelectorAll("button")) button.disabled = true;
  get("title").focus();
}

function reach(id) {
  get("more").open = true;
  get(id).focus();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.matches("input:not([type=checkbox]), textarea");
  if (typing) {
    if (event.key === "Escape" || (event.key === "Enter" && event.target.id === "note" && !event.shiftKey)) {
      get("title").focus({preventScroll: true});
      event.preventDefault();
    }
    return;
  }
  if (!get("keys").checked || event.repeat || !state) return;
  const key = event.key.toLowerCase();
  const chosen = state.classes.find((one) => one.key === key);
  const others = {s: () => answer("skip"), n: () => answer("unsure"), u: undo, c: () => reach("new-name"), t: () => reach("note")};
  if (chosen) answer("label", chosen.name);
  else if (others[key]) others[key]();
  else return;
  event.preventDefault();
}

// -- problems --------------------------------------------------------------------------------

function showProblem(sentence, stale) {
  get("problem-text").textContent = sentence;
  const change = get("problem-change");
  change.hidden = !stale;
  if (stale) {
    const what = stale.kind === "label" ? "“" + stale.label + "”" : stale.kind === "skip" ? "skipped" : "not sure";
    change.textContent = "Change it to " + what;
    change.onclick = () => act("answer", {...stale, change: true});
  }
  get("problem").hidden = false;
}

function hideProblem() {
  get("problem").hidden = true;
}

// -- drawing ---------------------------------------------------------------------------------

function show(next) {
  const before = state;
  state = next;
  document.title = state.title + " – " + state.name;
  get("name").textContent = state.name;
  get("target").textContent = " – " + state.question;
  get("saved").textContent = state.saved ? "" : "Answers are in the journal; save to write " + state.out + ".";
  if (!before || before.turn !== state.turn || !state.row || shownOf(before) !== shownOf(state)) showRow(before);
  showGuess();
  showClasses(before);
  get("last").textContent = state.last ? state.last.text : "";
  get("undo").disabled = !state.can_undo;
  showProgress();
  showCurve();
}

// The row and its evidence; what the model says may come later than the row.
const shownOf = (one) => JSON.stringify(one.row && [one.row.index, one.row.review]);

function makeCell(cell, attributes) {
  const value = make("td", "", attributes);
  value.append(make("span", cell.text, {dir: "auto", class: "text"}));
  if (cell.more) value.append(make("span", " … and " + cell.more, {class: "cut"}));
  return value;
}

function showRow(before) {
  const row = state.row;
  get("title").textContent = row ? row.title : state.end.title;
  get("why").textContent = row ? row.why : state.end.text;
  get("work").dataset.drawn = row ? row.drawn : "";
  const near = row && row.review ? row.review.nearest : [];
  const lines = (row ? row.cells : []).map((cell) => {
    const line = document.createElement("tr");
    const others = cell.near.map((one, k) => makeCell(one, {class: "near", "data-row": near[k].title + ", " + near[k].label}));
    line.append(make("th", cell.name, {scope: "row", dir: "auto"}), makeCell(cell, {class: "own"}), ...others);
    return line;
  });
  get("cells").tBodies[0].replaceChildren(...lines);
  showReview(row && row.review, near);
  for (const text of document.querySelectorAll("#cells .text")) {
    if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
  }
  for (const id of ["skip", "unsure"]) get(id).disabled = !row;
  if (before && (before.row || {}).index !== (row || {}).index) {
    get("note").value = "";
    window.scrollTo(0, 0);
  }
}

function showReview(review, near) {
  const facts = (review ? review.facts : []).map((one) => {
    const pair = document.createElement("div");
    pair.append(make("dt", one.name), make("dd", one.text, {dir: "auto"}));
    return pair;
  });
  get("doubt").replaceChildren(...facts);
  get("doubt").hidden = !review;
  get("doubt-note").textContent = review ? review.note : "";
  get("doubt-note").hidden = !(review && review.note);
  get("cells").caption.hidden = !near.length;
  get("cells").classList.toggle("compare", near.length > 0);
  get("cells").setAttribute("aria-label", near.length ? "Cells of this row and of the nearest labeled rows" : "Cells of this row");
  const head = document.createElement("tr");
  const titles = near.length ? [{title: "This row", label: review.given}, ...near] : [];
  const columns = titles.map((one) => {
    const column = make("th", "", {scope: "col"});
    column.append(make("span", one.title, {class: "quiet"}), make("span", one.label, {dir: "auto"}));
    return column;
  });
  head.append(make("td", ""), ...columns);
  get("cells").tHead.replaceChildren(...(near.length ? [head] : []));
}

function showGuess() {
  const guess = state.row && state.row.guess;
  get("guess").hidden = !guess;
  get("guess").textContent = guess ? "The model’s guess: " + guess.text : "";
}

function showClasses(before) {
  const names = (one) => JSON.stringify(one ? [one.classes.map((each) => each.text), !!one.row] : null);
  if (names(before) !== names(state)) {
    const buttons = state.classes.map((one) => {
      const button = make("button", one.text, {type: "button", dir: "auto"});
      button.disabled = !state.row;
      if (one.key) {
        button.append(make("kbd", one.key.toUpperCase()));
        button.setAttribute("aria-keyshortcuts", one.key);
      }
      button.addEventListener("click", () => answer("label", one.name));
      return button;
    });
    get("classes").replaceChildren(...buttons);
  }
  const lines = state.classes.map((one) => {
    const line = document.createElement("tr");
    line.append(make("th", one.name, {scope: "row", dir: "auto"}), make("td", one.count.toLocaleString("en")));
    return line;
  });
  get("counts").tBodies[0].replaceChildren(...lines);
}

function showProgress() {
  get("progress").textContent = state.progress.text;
  get("progress-detail").textContent = state.progress.detail;
  get("bar").max = state.progress.all;
  get("bar").value = state.progress.done;
  get("accuracy").textContent = state.accuracy.text;
  get("accuracy-detail").textContent = state.accuracy.detail;
  get("gain-title").textContent = state.gain.title;
  get("gain").textContent = state.gain.text;
  get("advice").textContent = state.advice.text;
}

function showCurve() {
  const points = state.curve;
  const picture = get("curve");
  picture.toggleAttribute("hidden", points.length < 2);
  if (points.length < 2) return;
  const first = points[0].n_labels;
  const last = Math.max(...points.map((one) => one.n_labels));
  const x = (n) => 34 + 256 * (n - first) / Math.max(1, last - first);
  const y = (share) => 118 - 108 * share;
  const at = (one, name) => x(one.n_labels).toFixed(1) + "," + y(one[name]).toFixed(1);
  const band = [...points.map((one) => at(one, "high")), ...points.map((one) => at(one, "low")).reverse()];
  const end = points[points.length - 1];
  const title = draw("title", {id: "curve-title"}, "Accuracy from " + first + " to " + last + " labels; now " + state.accuracy.text + ". " + state.accuracy.detail);
  picture.replaceChildren(
    title,
    ...[0, 0.5, 1].flatMap((share) => [
      draw("line", {class: "axis", x1: 34, x2: 290, y1: y(share), y2: y(share)}),
      draw("text", {x: 30, y: y(share) + 4, "text-anchor": "end"}, 100 * share + "%"),
    ]),
    draw("polygon", {class: "band", points: band.join(" ")}),
    draw("polyline", {class: "line", points: points.map((one) => at(one, "accuracy")).join(" ")}),
    draw("circle", {class: "dot", cx: x(end.n_labels), cy: y(end.accuracy), r: 3.5}),
    draw("text", {x: 34, y: 135}, String(first)),
    draw("text", {x: 290, y: 135, "text-anchor": "end"}, last + " labels"),
  );
}

// -- start -----------------------------------------------------------------------------------

get("more").open = window.matchMedia("(min-width: 50rem)").matches;
document.addEventListener("keydown", press);
get("skip").addEventListener("click", () => answer("skip"));
get("unsure").addEventListener("click", () => answer("unsure"));
get("undo").addEventListener("click", undo);
get("new-class").addEventListener("submit", addClass);
get("save").addEventListener("click", () => act("save", {}));
get("finish").addEventListener("click", finish);
get("problem-close").addEventListener("click", hideProblem);
document.addEventListener("visibilitychange", () => document.hidden || ask("state").then(({ok, found}) => ok && !busy && show(found), () => null));
poll();
