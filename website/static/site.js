// Panels without a kernel: a lesson's drawing becomes a panel that moves through states computed at build time.
import live from "./liveplot.js";

const HERE = new URL(".", import.meta.url);
const NEEDS = "needs a kernel: open this lesson's notebook on your own machine";

async function unpack(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${answer.status} for ${url}`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b; // some servers unpack it on the way
  const stream = new Blob([bytes]).stream();
  return new Response(packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream);
}
const load = async (url) => (await unpack(url)).json();

let plotly = null;
const library = () => (plotly ??= unpack(new URL("plotly.min.js.gz", HERE)).then((code) => code.blob()).then((code) => new Promise((done, fail) => {
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  script.onload = () => { window.__pdsynth_plotly__ = { library: window.Plotly, asked: 0, waiting: new Set() }; done(); };
  script.onerror = () => fail(new Error("plotly.js is missing"));
  document.head.append(script);
})));

function element(parent, tag, className = "", html = "") {
  const node = parent.appendChild(document.createElement(tag));
  node.className = className;
  node.innerHTML = html;
  return node;
}

let count = 0;
const marked = (one) => one.label || `<b>${one.words}</b>`;

// A label, a number box where values are numbers, and a slider or a menu over the values that the page holds.
function control(parent, one, moved) {
  const cell = element(parent, "div", `pdsynth-control pdsynth-c-${one.name}`);
  const row = element(cell, "div", one.menu ? "pdsynth-choice" : "pdsynth-number");
  const label = element(row, "label", "widget-label", marked(one));
  label.title = one.words;
  const id = (label.htmlFor = `pdsynth-control-${(count += 1)}`);
  if (one.menu) {
    const menu = element(row, "select");
    menu.id = id;
    one.texts.forEach((text, place) => menu.add(new Option(text, place)));
    menu.disabled = one.texts.length < 2;
    if (menu.disabled) label.title = menu.title = `another value ${NEEDS}`;
    menu.addEventListener("change", () => moved(+menu.value));
    return (place) => { menu.value = place; };
  }
  const box = element(row, "input");
  Object.assign(box, { type: "number", id, min: one.min, max: one.max, step: one.step });
  const bar = element(cell, "input", "pdsynth-slider");
  Object.assign(bar, { type: "range", min: 0, max: one.texts.length - 1, step: 1, disabled: one.texts.length < 2 });
  bar.setAttribute("aria-label", one.words);
  if (bar.disabled) bar.title = `another value ${NEEDS}`;
  let here = 0;
  const show = (place) => { here = bar.value = place; box.value = one.texts[place]; bar.setAttribute("aria-valuetext", one.texts[place]); };
  bar.addEventListener("input", () => moved(+bar.value));
  if (one.ends.length) element(cell, "div", "pdsynth-ends", one.ends.map((end) => `<span>${end}</span>`).join(""));
  box.addEventListener("change", () => {
    if (!box.value) return moved(here); // empty, or no number
    const beyond = +box.value < one.min || +box.value > one.max;
    const why = beyond ? `lies beyond ${one.min} to ${one.max}` : NEEDS;
    moved(one.texts.findIndex((text) => +text === +box.value), `${label.textContent} = ${box.value} ${why}. This page holds ${one.texts.join(", ")}.`);
  });
  box.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault(); // the next number may be none of those held
    if (one.texts[here + by]) moved(here + by);
  });
  return show;
}

// What liveplot.js asks of a widget's model.
function model(dark, grabbed) {
  const state = { figure: '{"data": [], "layout": {}}', alt: "", dark_colours: dark, busy: false }, heard = {};
  return {
    get: (name) => state[name],
    on: (event, act) => (heard[event] ??= new Set()).add(act),
    off: (event, act) => heard[event]?.delete(act),
    send: (message) => { if (message.type === "grab") grabbed(message.values, message.stepped); },
    set(news) { Object.assign(state, news); for (const name of Object.keys(news)) for (const act of heard[`change:${name}`] ?? []) act(); },
  };
}

function build(still, held) {
  const root = document.createElement("div");
  root.className = "pdsynth-live";
  const status = element(root, "div", "pdsynth-status"), levers = element(root, "div", "pdsynth-levers");
  const part = (name) => element(levers, "div", `pdsynth-${name}`);
  const [controls, tries, told, alert, more] = ["controls", "tries", "told", "alert", "more"].map(part);
  const plot = element(root, "div");
  const tables = element(root, "div", "pdsynth-tables");
  element(root, "div", "pdsynth-note", held.note);
  let at = held.start.split(",").map(Number);
  // a drag moves each control that it names to the nearest place that the page holds, a step to another one
  const figure = model(held.dark, (values, stepped) => {
    for (const [name, value] of Object.entries(values)) {
      const which = held.controls.findIndex((one) => one.name === name);
      const far = held.controls[which]?.texts.map((text) => Math.abs(text - value)) ?? [];
      if (!far.length) continue;
      const near = far.indexOf(Math.min(...far)), by = stepped && near === at[which] ? Math.sign(value - held.controls[which].texts[near]) : 0;
      at = at.with(which, Math.min(Math.max(near + by, 0), far.length - 1));
    }
    told.innerHTML = "";
    show();
  });
  const refuse = (text) => { alert.innerHTML = ""; element(alert, "span", "", "").textContent = text; alert.firstChild.setAttribute("role", "alert"); };
  const show = () => {
    const state = held.states[at.join()];
    shows.forEach((set, place) => set(at[place]));
    if (!state) return refuse(`This combination ${NEEDS}. The figure stays as it was; move one control back.`);
    const more = state.figure.layout.meta?.more;
    if (more) more.label = "More"; // to the next place, however far
    alert.innerHTML = state.alert;
    status.innerHTML = `<div class="widget-html-content">${state.status}</div>`; // as in a notebook
    tables.innerHTML = `<div class="widget-html-content">${state.tables}</div>`;
    figure.set({ figure: JSON.stringify(state.figure), alt: state.alt });
  };
  const shows = held.controls.map((one, which) => control(which < held.main ? controls : more, one, (place, problem) => {
    told.innerHTML = "";
    if (place < 0) return refuse(problem);
    at = at.with(which, place);
    show();
  }));
  for (const one of held.tries)
    element(tries, "button", "", one.label).addEventListener("click", () => {
      at = one.at.split(",").map(Number);
      show();
      told.innerHTML = "";
      element(told, "div", "widget-html-content", `<div role="status">${one.says}</div>`);
    });
  still.replaceWith(root);
  live.render({ model: figure, el: plot });
  show();
}

async function start(still) {
  try {
    const [held] = await Promise.all([load(new URL(`panels/${still.dataset.panel}.json.gz`, HERE)), library()]);
    build(still, held);
  } catch (problem) {
    console.warn(`The panel stays a drawing: ${problem.message}`); // what is on the page is true without it
  }
}

const near = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) if (isIntersecting) { near.unobserve(target); start(target); }
}, { rootMargin: "1200px" });
for (const still of document.querySelectorAll(".pdsynth-still[data-panel]")) if (still.dataset.panel) near.observe(still);

// Paper is white: a dark page is printed in the light theme.
const page = document.documentElement.dataset;
let dark = false;
addEventListener("beforeprint", () => { dark = page.theme === "dark"; if (dark) page.theme = "light"; });
addEventListener("afterprint", () => { if (dark) page.theme = "dark"; });
