// One Plotly figure that its kernel redraws. plotly.js comes from the kernel once per page, as a binary
// message: it is never part of the widget's state, nor of the saved notebook, and needs no network.
const KEY = "__pdsynth_plotly__";
const ASK_AGAIN_AFTER = 15000; // ms: a busy kernel answers late, a lost question is asked again
const WAITING = "Loading the figure…";
const NO_KERNEL = "No figure: the kernel is busy or not running. Run this cell again (Shift+Enter).";

const page = () => (window[KEY] ??= { library: null, asked: 0, waiting: new Set() });

async function unpack(message, buffer) {
  const bytes = buffer instanceof DataView ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength) : new Uint8Array(buffer);
  if (!message.gzip) return new TextDecoder().decode(bytes);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function evaluate(source) {
  // Its own module object: the page's AMD loader and other copies of Plotly are left alone.
  const module = { exports: {} };
  new Function("module", "exports", "define", source).call(window, module, module.exports, undefined);
  return module.exports.Plotly ?? module.exports;
}

function library(model, waits) {
  const shared = page();
  if (shared.library) return Promise.resolve(shared.library);
  return new Promise((resolve, reject) => {
    const ask = () => {
      if (Date.now() - shared.asked < ASK_AGAIN_AFTER) return;
      shared.asked = Date.now();
      try {
        model.send({ type: "need", gzip: "DecompressionStream" in window });
      } catch {
        shared.asked = 0; // a dead model: let the next one ask
      }
    };
    const receive = async (message, buffers) => {
      if (message?.type !== "plotlyjs") return;
      try {
        shared.library ??= evaluate(await unpack(message, buffers[0]));
        for (const finish of [...shared.waiting]) finish(shared.library);
      } catch (problem) {
        finish(null, problem);
      }
    };
    const timer = setInterval(() => { waits(); ask(); }, 5000);
    const finish = (found, problem) => {
      clearInterval(timer);
      model.off("msg:custom", receive);
      shared.waiting.delete(finish);
      if (found) resolve(found); else reject(problem ?? new Error("closed"));
    };
    shared.waiting.add(finish);
    model.on("msg:custom", receive);
    waits.stop = () => finish(null);
    ask();
  });
}

function readTheme(node) {
  const text = getComputedStyle(node).color || "rgb(33,33,33)";
  const [r, g, b] = (text.match(/[\d.]+/g) ?? [33, 33, 33]).map(Number);
  const dark = 0.3 * r + 0.59 * g + 0.11 * b > 128; // light text means a dark page, in any front end
  return {
    dark, text: dark ? "#e0e0e0" : "#333333", page: dark ? "#1f1f1f" : "#ffffff",
    grid: dark ? "rgba(255,255,255,.16)" : "rgba(0,0,0,.10)", line: dark ? "rgba(255,255,255,.45)" : "rgba(0,0,0,.40)",
  };
}

// The theme goes into the template, so that it reaches every axis (x, x2, y3, …) and a figure's own settings still win.
function themed(json, swaps, theme) {
  if (theme.dark) for (const [light, dark] of Object.entries(swaps)) json = json.replaceAll(`"${light}"`, `"${dark}"`);
  const figure = JSON.parse(json);
  const layout = (figure.layout ??= {});
  const template = ((layout.template ??= {}).layout ??= {});
  const axis = { gridcolor: theme.grid, zerolinecolor: theme.line, linecolor: theme.line, tickcolor: theme.line };
  for (const name of ["xaxis", "yaxis"]) template[name] = { ...template[name], ...axis };
  template.polar = { ...template.polar, bgcolor: "rgba(0,0,0,0)", angularaxis: axis, radialaxis: axis };
  template.hoverlabel = { ...template.hoverlabel, bgcolor: theme.page, bordercolor: theme.line, font: { color: theme.text } };
  template.modebar = { bgcolor: "rgba(0,0,0,0)", color: theme.line, activecolor: theme.text };
  layout.font = { ...layout.font, color: theme.text };
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.uirevision ??= "pdsynth"; // a zoom or a hidden trace outlives the next move of a slider
  return figure;
}

// ipywidgets gives its sliders no accessible name: they get the text of the label beside them.
function nameControls(root) {
  for (const control of root.querySelectorAll(".pdsynth-control")) {
    const label = control.querySelector(".widget-label");
    const handle = control.querySelector("[role=slider]");
    const box = control.querySelector("input[type=number]");
    if (!label || !handle) continue;
    const set = (node, name, value) => { if (node && node.getAttribute(name) !== value) node.setAttribute(name, value); };
    set(handle, "aria-label", label.title && label.title !== "null" ? label.title : label.textContent.trim());
    if (box) set(handle, "aria-valuetext", box.value);
  }
  root.querySelector(".pdsynth-status")?.setAttribute("aria-live", "polite");
}

// A table that is replaced keeps its opened parts open.
function keepOpen(root, opened) {
  for (const part of root.querySelectorAll(".pdsynth-tables details"))
    if (opened.has(part.querySelector("summary")?.textContent)) part.open = true;
}

// A table that is a line or two higher than its place gets the room: nobody scrolls for that.
function giveRoom(root) {
  for (const table of root.querySelectorAll(".pdsynth-table")) {
    table.style.maxHeight = "";
    if (table.scrollHeight - table.clientHeight < 60) table.style.maxHeight = "none";
  }
}

// The first settings are seen at once; a button opens the others.
function foldMore(root) {
  const more = root.querySelector(".pdsynth-more");
  if (!more?.children.length || root.querySelector(".pdsynth-opens")) return;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "pdsynth-tool pdsynth-opens", textContent: "More settings" });
  const show = (open) => { root.classList.toggle("pdsynth-opened", open); button.setAttribute("aria-expanded", String(open)); };
  button.onclick = () => show(!root.classList.contains("pdsynth-opened"));
  show(false);
  more.before(button);
}

const POINT = (1.5).toLocaleString().includes("."); // a browser with a decimal comma takes one by itself
// A comma typed into a box of fractions is a point, as in all answers of the course; 1,000 of whole numbers is a thousand.
function takeComma(event) {
  if (!POINT || event.data !== "," || event.target.type !== "number" || event.target.step % 1 === 0) return;
  event.preventDefault();
  document.execCommand("insertText", false, ".");
}

function attend(root, signal) {
  const opened = new Set();
  root.addEventListener("beforeinput", takeComma, { signal });
  root.setAttribute("role", "group");
  foldMore(root);
  root.addEventListener("toggle", (event) => {
    const key = event.target.querySelector?.("summary")?.textContent;
    if (key) opened[event.target.open ? "add" : "delete"](key);
  }, { capture: true, signal });
  let frame = 0;
  const look = () => { frame ||= requestAnimationFrame(() => { frame = 0; nameControls(root); keepOpen(root, opened); giveRoom(root); }); };
  const watch = new MutationObserver(look);
  for (const part of root.querySelectorAll(".pdsynth-controls, .pdsynth-alert, .pdsynth-status, .pdsynth-tables"))
    watch.observe(part, { childList: true, subtree: true });
  signal.addEventListener("abort", () => watch.disconnect());
  look();
  return look;
}

function element(parent, tag, className, role) {
  const node = parent.appendChild(document.createElement(tag));
  if (role) node.setAttribute("role", role);
  node.className = className;
  return node;
}

// --- one figure, cut into charts: each has a title that wraps, and its own place on the page

const axisName = (id) => `${id[0]}axis${id.slice(1)}`;

// Charts by subplot ("xy", "x2y3"), in the order of layout.meta.charts; an overlaid axis goes with the one below it.
function cut(figure) {
  const { data, layout } = figure;
  const given = layout.meta?.charts ?? {};
  const below = (id) => layout[axisName(id)]?.overlaying || id;
  const found = new Map(Object.keys(given).map((key) => [key, []]));
  for (const trace of data) {
    const key = below(trace.xaxis ?? "x") + below(trace.yaxis ?? "y");
    found.set(key, [...(found.get(key) ?? []), trace]);
  }
  return [...found].filter(([, traces]) => traces.length).map(([key, traces]) => chart(key, traces, layout, given[key] ?? {}));
}

function chart(key, traces, whole, given) {
  const [x, y] = key.match(/[xy]\d*/g);
  const mine = new Set([x, y, ...traces.flatMap((trace) => [trace.xaxis ?? "x", trace.yaxis ?? "y"])]);
  const layout = { margin: { l: 12, r: 18, t: 10, b: 8 }, showlegend: false };
  for (const name of ["template", "font", "barmode", "bargap", "hoverlabel", "coloraxis", "paper_bgcolor", "plot_bgcolor", "uirevision"])
    if (name in whole) layout[name] = whole[name];
  if (whole[axisName(x)]?.tickangle < 0) layout.margin.l = 56; // slanted names begin to the left of their places
  for (const id of mine) {
    const axis = { ...whole[axisName(id)], anchor: id[0] === "x" ? y : x, automargin: true, ticklabeloverflow: "allow", ticklabelstandoff: id[0] === "x" ? 6 : 3 };
    delete axis.domain;
    layout[axisName(id)] = { ...axis, ...given.axes?.[id] };
  }
  const here = (item) => !item.name?.startsWith("title ") && [item.xref ?? "x", item.yref ?? "y"].every((ref) => mine.has(ref.split(" ")[0]) || ref === "paper")
    && [item.xref ?? "x", item.yref ?? "y"].some((ref) => ref !== "paper");
  for (const kind of ["shapes", "annotations"]) layout[kind] = (whole[kind] ?? []).filter(here);
  const bar = { thickness: 12, outlinewidth: 0, title: { text: "" } };
  if (layout.coloraxis?.colorbar) layout.coloraxis = { ...layout.coloraxis, colorbar: bar };
  const ticks = ({ tickvals, ticktext, tickformat }) => ({ tickvals, ticktext, tickformat });
  const data = traces.map((trace) => (trace.colorbar ? { ...trace, colorbar: { ...ticks(trace.colorbar), ...bar } } : trace));
  return { key, data, layout, title: given.title ?? "", height: given.height ?? 300, some: given.some };
}

// The names along an axis, if it has names: those that are set, or the values of its traces.
function names(axis, letter, data) {
  if (axis?.ticktext) return axis.ticktext;
  const own = data.flatMap((trace) => (Array.isArray(trace[letter]) ? trace[letter] : []));
  return [...new Set(own.filter((value) => typeof value === "string"))]; // numbers between them are places
}

const MOST = 8; // names along an axis that are seen at first
// Of a long list its first names, of a map its first rows and columns; returns how many there are.
function crop({ layout, data, key, some }, all) {
  if (!some) return 0;
  const [x, y] = key.match(/[xy]\d*/g).map((id) => layout[axisName(id)]);
  const map = data[0].type === "heatmap";
  const count = y.categoryarray?.length || names(y, "y", data).length;
  if (count <= MOST) return 0;
  if (all) return count;
  const down = y.autorange === "reversed" || y.range?.[0] > y.range?.[1];
  y.range = down ? [MOST - 0.5, Math.min(-0.5, y.range?.[1] ?? -0.5)] : [count - MOST - 0.5, count - 0.5];
  y.autorange = false;
  if (map) Object.assign(x, { range: [-0.5, MOST - 0.5], autorange: false });
  return count;
}

// What an axis is called must fit beside it: a long title goes on a second line.
function fold(text, room, at = / /g) {
  if (!text || text.length <= room || text.includes("<br>")) return text;
  const middle = [...text.matchAll(at)].map((m) => m.index).sort((a, b) => Math.abs(a - text.length / 2) - Math.abs(b - text.length / 2))[0];
  return middle ? `${text.slice(0, middle + 1).trimEnd()}<br>${text.slice(middle + 1)}` : text;
}

const NARROW = 320; // pixels of a chart on a phone
// In a narrow chart values have room beside their dots, long names have two lines, and axes fewer numbers.
function squeeze({ layout, data, key }, size, share) {
  const [x, y] = key.match(/[xy]\d*/g).map((id) => layout[axisName(id)]);
  const beside = data.filter((trace) => /right/.test(trace.textposition) && /text/.test(trace.mode)).flatMap((trace) => trace.text);
  layout.margin = { ...layout.margin, r: Math.max(layout.margin.r, ...beside.map((text) => 0.58 * size * text.length)) };
  const down = names(y, "y", data).map(String), room = share / (0.58 * 9);
  if (!y.ticktext && down.some((name) => name.length > room)) Object.assign(y, { tickvals: down, ticktext: down.map((name) => fold(name, room, /[ -]/g)) });
  if (!x.tickvals && !names(x, "x", data).length) Object.assign(x, { nticks: 4, tickangle: 0 });
  if (x.ticktext && x.tickangle === 0) delete x.tickangle; // numbers turn where they have no room
}

// What the names along both axes need in a projector's type.
const line = (name) => Math.max(...String(name).split("<br>").map((part) => part.length)); // its longest line
function leastHeight({ layout, data, key }, size) {
  const [x, y] = key.match(/[xy]\d*/g).map((id) => layout[axisName(id)]);
  const down = y.showticklabels === false ? [] : names(y, "y", data);
  const under = Math.max(0, ...names(x, "x", data).map((name) => String(name).length));
  return 1.15 * size * down.length + 0.5 * size * Math.min(under, 12) + 26;
}

function fit({ layout, data, key }, width, height, least) {
  const size = Math.max(layout.font?.size ?? 12, least);
  if (width < NARROW && least < 18) squeeze({ layout, data, key }, size, 0.36 * width);
  layout.width = width;
  layout.height = height;
  layout.font = { ...layout.font, size };
  const [x, y] = key.match(/[xy]\d*/g).map((id) => layout[axisName(id)]);
  const across = names(x, "x", data), down = y.showticklabels === false ? [] : names(y, "y", data);
  const longest = Math.max(0, ...down.map((name) => 0.58 * size * line(name)));
  if (longest > 0.36 * width) y.tickfont = { size: Math.max(9, least, (0.36 * width * size) / longest) };
  const beside = Math.max(40, Math.min(longest, 0.36 * width)) + (data.some((trace) => trace.type === "heatmap") ? 70 : 20);
  const step = (width - beside) / Math.max(1, across.length);
  if (x.tickangle === 0 && Math.max(0, ...across.map((name) => 0.58 * size * line(name))) > step) x.tickangle = -90;
  if (x.tickangle < 0 && step < 1.35 * size) Object.assign(x, { tickangle: -90, tickfont: { size: Math.max(9, Math.min(size, step / 1.15)) } });
  const every = Math.ceil((1.15 * Math.max(9, least > 11 ? least : 9)) / step); // where no more names fit than every other
  if (x.tickangle === -90 && every > 1) {
    const kept = (list) => list?.filter((_, place) => place % every === 0);
    Object.assign(x, x.ticktext ? { tickvals: kept(x.tickvals), ticktext: kept(x.ticktext) } : { tickvals: kept(across) });
  }
  for (const [name, axis] of Object.entries(layout)) {
    if (!/^[xy]axis/.test(name)) continue;
    const title = typeof axis.title === "string" ? { text: axis.title } : axis.title;
    const room = (name[0] === "x" ? width - beside : height - 70) / (0.72 * size);
    if (title?.text) axis.title = { ...title, text: fold(title.text, room) };
  }
  return enlarge(layout, least > 11 ? least : 9);
}

// No text smaller than ``least``, wherever a figure sets its own size.
function enlarge(item, least, name = "") {
  if (Array.isArray(item)) return item.map((part) => enlarge(part, least));
  if (!item || typeof item !== "object" || ArrayBuffer.isView(item)) return item;
  const same = Object.entries(item).map(([key, value]) => [key, /font$/.test(name) && key === "size" ? Math.max(value, least) : enlarge(value, least, key)]);
  return Object.fromEntries(same);
}

// --- the legend

const SHAPES = {
  circle: "<circle r='5'/>", square: "<rect x='-5' y='-5' width='10' height='10'/>", diamond: "<path d='M0-6 6 0 0 6-6 0Z'/>",
  "triangle-up": "<path d='M0-6 6 5-6 5Z'/>", "triangle-down": "<path d='M0 6 6-5-6-5Z'/>", x: "<path d='M-5-5 5 5M-5 5 5-5' stroke-width='3'/>",
  cross: "<path d='M0-6V6M-6 0H6' stroke-width='3'/>", "line-ns": "<path d='M0-7V7' stroke-width='3'/>", star: "<path d='M0-7 2-2 7-2 3 1 4 6 0 3-4 6-3 1-7-2-2-2Z'/>",
};
const DASHES = { dash: "7 4", dot: "2 3", dashdot: "7 3 2 3" };
const HATCHES = { "/": "<path d='M-7 5 3-5M-3 5 7-5'/>", x: "<path d='M-6 5 4-5M-4-5 6 5'/>", ".": "<path d='M-4 0h.1M0 0h.1M4 0h.1' stroke-width='2'/>" };
const first = (value) => (Array.isArray(value) ? value[0] : value);

function swatch(trace) {
  const fill = first(trace.marker?.color) ?? trace.line?.color ?? "currentColor";
  let inside = "";
  if (trace.type === "bar") {
    const hatch = HATCHES[first(trace.marker?.pattern?.shape)];
    inside = `<rect x='-8' y='-5' width='16' height='10' fill='${fill}' opacity='${trace.opacity ?? first(trace.marker?.opacity) ?? 1}'/>` +
      (hatch ? `<g stroke='#fff' fill='none' stroke-width='1.5'>${hatch}</g>` : "");
  } else {
    const mode = trace.mode ?? "lines";
    if (mode.includes("lines"))
      inside += `<path d='M-12 0H12' stroke='${trace.line?.color ?? fill}' stroke-width='2.5' stroke-dasharray='${DASHES[trace.line?.dash] ?? ""}'/>`;
    const [, symbol, open] = String(first(trace.marker?.symbol) ?? "circle").match(/^(.*?)(-open|-thin)?$/);
    const stroke = symbol === "line-ns" ? trace.marker.line?.color ?? fill : fill;
    if (mode.includes("markers"))
      inside += `<g fill='${open ? "none" : fill}' stroke='${stroke}' stroke-width='${open ? 2 : 0.5}'>${SHAPES[symbol] ?? SHAPES.circle}</g>`;
  }
  return `<svg viewBox='-13 -8 26 16' width='26' height='16' aria-hidden='true'>${inside}</svg>`;
}

// What is named of a chart: several traces with names, or one that asks for it.
function keysOf(chart) {
  const own = chart.data.filter((trace) => trace.name && trace.showlegend !== false);
  return new Set(own.map((trace) => trace.name)).size > 1 ? own : own.filter((trace) => trace.showlegend === true);
}

function legend(node, figure, chart, hidden, redraw) { // of buttons that hide and show
  const named = new Map(), plain = (trace) => !Array.isArray(trace.marker?.color); // not one colour for each mark
  const shown = (trace) => (plain(trace) ? trace : figure.data.find((other) => other.name === trace.name && plain(other)) ?? trace);
  for (const trace of keysOf(chart)) if (!named.has(trace.name)) named.set(trace.name, shown(trace));
  const wanted = figure.layout.showlegend === false ? [] : [...named];
  const old = [...node.children];
  wanted.forEach(([name, trace], place) => {
    const button = old[place] ?? element(node, "button", "pdsynth-key");
    button.type = "button";
    button.title = "hide or show";
    button.setAttribute("aria-pressed", String(!hidden.has(name)));
    const face = `${swatch(trace)}<span></span>`;
    if (button.face !== face || button.textContent !== name) {
      button.face = button.innerHTML = face;
      button.lastChild.textContent = name;
    }
    button.onclick = () => { hidden[hidden.has(name) ? "delete" : "add"](name); redraw(); };
  });
  old.slice(wanted.length).forEach((button) => button.remove());
}

// --- one chart at a time, a pager for the others, and the projector mode: the same in large text

const WIDE = 660; // pixels of a panel from which its controls stand beside the chart

function stage(el, redraw, signal) {
  const bar = element(el, "div", "pdsynth-bar");
  const state = element(bar, "span", "pdsynth-state");
  const cue = element(bar, "span", "pdsynth-cue", "status");
  const steps = element(bar, "span", "pdsynth-steps");
  const make = (parent, text, name, act) => {
    const button = element(parent, "button", "pdsynth-tool");
    Object.assign(button, { type: "button", textContent: text, title: name, onclick: act });
    button.setAttribute("aria-label", name);
    return button;
  };
  const mode = { make, bar, on: false, full: false, chart: 0, state, cue, count: 0, root: () => el.closest(".pdsynth-live") ?? el };
  const step = (by) => { mode.chart = (mode.chart + by + mode.count) % mode.count; redraw(); };
  make(steps, "‹", "previous chart", () => step(-1));
  const where = element(steps, "span", "pdsynth-where");
  make(steps, "›", "next chart", () => step(1));
  const turn = (on) => {
    mode.on = on;
    mode.root().classList.toggle("pdsynth-projector", on);
    toggle.setAttribute("aria-pressed", String(on));
    redraw();
  };
  const toggle = make(bar, "Projector", "projector mode: large text", () => {
    turn(!mode.on);
    if (mode.on) mode.root().requestFullscreen?.().catch(() => {}); // not allowed in a frame: then in its place
    else if (document.fullscreenElement === mode.root()) document.exitFullscreen();
  });
  toggle.setAttribute("aria-pressed", "false");
  document.addEventListener("fullscreenchange", () => {
    const full = document.fullscreenElement === mode.root();
    if (full === mode.full) return; // another panel's
    mode.full = full;
    if (mode.on && !full) turn(false); // left with Escape
    redraw();
  }, { signal });
  mode.height = (canvas, given) => { // the rest of a screen; in a window, with its controls in view
    const root = mode.root(), above = canvas.getBoundingClientRect().top - root.getBoundingClientRect().top + root.scrollTop;
    if (mode.on) return Math.max(320, mode.full ? innerHeight - 16 - above : Math.min(620, innerHeight - 266));
    return mode.wide ? Math.max(300, Math.min(440, innerHeight - 300)) : Math.min(given, 460);
  };
  mode.show = (count) => {
    mode.count = count;
    mode.chart = Math.min(mode.chart, count - 1);
    steps.hidden = count < 2;
    where.textContent = `${mode.chart + 1} / ${count}`;
  };
  return mode;
}

// --- things to grab: a person, a line, a next step. Each moves a control of the panel.

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const MOTION = 250; // ms of a transition
const animate = (node, frames, options) => { if (!STILL.matches) node.animate(frames, { duration: MOTION, easing: "ease-out", fill: "backwards", ...options }); };

// People on bars: one is dragged, or walks by arrow keys, into another bar.
function people(node, grab, send) {
  node.hidden = !grab;
  if (!grab) return;
  const same = node.bars === grab.bars.join();
  if (!same) {
    node.bars = grab.bars.join();
    node.replaceChildren();
    const top = Math.max(1, ...grab.heights);
    grab.bars.forEach((name, place) => {
      const bin = element(node, "div", "pdsynth-bin"), stack = element(bin, "div", "pdsynth-stack");
      const fill = element(stack, "div", "pdsynth-fill");
      fill.style.height = `${(28 * grab.heights[place]) / top}px`;
      element(bin, "div", "pdsynth-bin-name").textContent = name;
    });
  }
  const bins = [...node.children];
  const said = (place) => grab.bars[place];
  grab.people.forEach((place, who) => {
    let dot = node.querySelector(`[data-who="${who}"]`);
    const before = dot?.getBoundingClientRect(), focused = document.activeElement === dot;
    if (!dot) {
      dot = document.createElement("button");
      Object.assign(dot, { type: "button", className: "pdsynth-person" });
      dot.dataset.who = who;
      dot.setAttribute("role", "slider");
      dot.setAttribute("aria-label", grab.people.length > 1 ? `person ${grab.first + who + 1}, drag into another bar` : "a person, drag into another bar");
      dot.setAttribute("aria-valuemin", 0);
    }
    const go = (to) => {
      if (to < 0 || to >= bins.length) return;
      send({ [grab.bar]: to, ...(grab.person ? { [grab.person]: grab.first + who + 1 } : {}) });
    };
    const now = () => bins.indexOf(dot.closest(".pdsynth-bin"));
    dot.onkeydown = (event) => {
      const to = { ArrowRight: now() + 1, ArrowUp: now() + 1, ArrowLeft: now() - 1, ArrowDown: now() - 1, Home: 0, End: bins.length - 1 }[event.key];
      if (to !== undefined) { event.preventDefault(); event.stopPropagation(); go(to); }
    };
    dot.onpointerdown = (event) => {
      event.preventDefault();
      dot.focus({ preventScroll: true });
      dot.setPointerCapture(event.pointerId);
      const [x, y] = [event.clientX, event.clientY];
      const under = (e) => bins.findIndex((bin) => { const box = bin.getBoundingClientRect(); return e.clientX >= box.left && e.clientX < box.right; });
      const mark = (to) => bins.forEach((bin, place) => bin.classList.toggle("pdsynth-under", place === to));
      dot.onpointermove = (e) => { dot.style.transform = `translate(${e.clientX - x}px, ${e.clientY - y}px)`; mark(under(e)); };
      dot.onpointerup = dot.onpointercancel = (e) => {
        dot.onpointermove = dot.onpointerup = dot.onpointercancel = null;
        const to = e.type === "pointerup" ? under(e) : -1;
        mark(-1);
        if (to >= 0 && to !== now()) { bins[to].firstChild.append(dot); go(to); }
        dot.style.transform = "";
      };
    };
    bins[place].firstChild.append(dot);
    dot.setAttribute("aria-valuemax", bins.length - 1);
    dot.setAttribute("aria-valuenow", place);
    dot.setAttribute("aria-valuetext", said(place));
    if (focused) dot.focus();
    const after = dot.getBoundingClientRect();
    if (before && (before.left !== after.left || before.top !== after.top))
      animate(dot, [{ transform: `translate(${before.left - after.left}px, ${before.top - after.top}px)` }, { transform: "none" }]);
  });
  node.querySelectorAll(".pdsynth-person").forEach((dot) => { if (dot.dataset.who >= grab.people.length) dot.remove(); });
}

// The releases fall onto the law, one after another.
function rain(canvas, trace) {
  const points = canvas.querySelectorAll(`.scatterlayer .trace${trace.uid} .points path.point, .scatterlayer .trace:last-child .points path.point`);
  points.forEach((point, place) => {
    const [x, y] = (point.getAttribute("transform") ?? "").match(/-?[\d.]+/g) ?? [0, 0];
    const ends = [`translate(${x}px, ${y - 260}px)`, `translate(${x}px, ${y}px)`];
    animate(point, [{ transform: ends[0], opacity: 0 }, { transform: ends[1], opacity: 1 }], { delay: 6 * place, easing: "ease-in" });
  });
}

// A line of the chart that is dragged along its axis, or walks by arrow keys.
function handle(canvas, drag, send, label) {
  let knob = canvas.querySelector(".pdsynth-knob");
  const axis = canvas._fullLayout?.xaxis;
  if (!drag || !axis) { knob?.remove(); return; }
  if (!knob) {
    knob = element(canvas, "button", "pdsynth-knob", "slider");
    knob.type = "button";
    canvas.setAttribute("role", "group");  // an image holds nothing that can be grabbed
  }
  const [low, high] = axis.range, box = canvas._fullLayout._size;
  const put = (value) => { knob.style.left = `${axis._offset + axis.l2p(value)}px`; };
  knob.style.top = `${box.t}px`;
  knob.style.height = `${box.h}px`;
  if (!knob.onpointermove) put(drag.at); // an answer that comes late doesn't pull it from the hand
  for (const [name, value] of Object.entries({ "aria-label": `${label}, drag the line`, "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": drag.at })) knob.setAttribute(name, value);
  const value = (event) => { const at = axis.p2l(event.clientX - canvas.getBoundingClientRect().left - axis._offset); return Math.min(high, Math.max(low, at)); };
  knob.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const end = { Home: low, End: high }[event.key];
    if (!by && end === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    send({ [drag.control]: by ? drag.at + by * drag.step : end }, Boolean(by));
  };
  knob.onpointerdown = (event) => {
    event.preventDefault();
    knob.focus({ preventScroll: true });
    knob.setPointerCapture(event.pointerId);
    knob.onpointermove = (e) => { put(value(e)); send({ [drag.control]: value(e) }); };
    knob.onpointerup = knob.onpointercancel = (e) => {
      knob.onpointermove = knob.onpointerup = knob.onpointercancel = null;
      put(+knob.getAttribute("aria-valuenow")); // on the line of the last answer
      if (e.type === "pointerup") send({ [drag.control]: value(e) });
    };
  };
}

// Buttons beside the pager: play through a control's values, rain again, or one step more.
function extras(parent, make, act) {
  const buttons = {};
  for (const [key, text, name] of [["play", "▶ Play", "play"], ["rain", "200 releases", "let 200 releases rain"], ["more", "", "one step more"], ["all", "", "show all"]]) {
    buttons[key] = make(parent, text, name, () => act[key]());
    buttons[key].hidden = true;
  }
  return buttons;
}

const SLOW = 300; // ms until a panel says that it computes

function render({ model, el }) {
  const stop = new AbortController();
  const alert = element(el, "div", "pdsynth-plot-error", "alert");
  const note = element(el, "div", "pdsynth-plot-note", "status");
  note.textContent = WAITING;
  el.classList.add("pdsynth-drawing");
  let Plotly = null, frame = 0, look = null, width = 0, waiting = 0;
  const hidden = new Set();
  const schedule = () => { box.setAttribute("aria-busy", "true"); frame ||= requestAnimationFrame(draw); };
  const head = element(el, "div", "pdsynth-head");
  const keys = element(head, "div", "pdsynth-legend");
  const mode = stage(head, schedule, stop.signal);
  const strip = element(el, "div", "pdsynth-people");
  const box = element(el, "div", "pdsynth-plot");
  const send = (values, stepped = false) => model.send({ type: "grab", values, stepped }); // stepped: one on, not so far
  let meta = {}, playing = 0, showAll = false, falls = false;
  const slider = (name) => el.closest(".pdsynth-live")?.querySelector(`.pdsynth-c-${name} input[type=number]`);
  const step = (name, by) => {
    const field = slider(name);
    if (!field) return false;
    const next = Math.min(+field.value + by, +field.max);
    if (next === +field.value) return false;
    send({ [name]: next }, true);
    return true;
  };
  const stopPlaying = () => { clearInterval(playing); playing = 0; buttons.play.textContent = "▶ Play"; };
  const act = {
    play() {
      if (playing) return stopPlaying();
      let by = 1;
      const { control } = meta.play;
      if (+slider(control).value >= +slider(control).max) send({ [control]: 0 });
      playing = setInterval(() => { by = Math.max(1, Math.round(+slider(control).value * 0.2)); if (!step(control, by)) stopPlaying(); }, 350);
      buttons.play.textContent = "❚❚ Pause";
    },
    rain() { falls = true; schedule(); },
    more() { step(meta.more.control, meta.more.by); },
    all() { showAll = !showAll; schedule(); },
  };
  const buttons = extras(mode.bar, mode.make, act);
  el.style.color = "var(--jp-ui-font-color1, inherit)";

  const rest = () => { if (!frame) box.setAttribute("aria-busy", "false"); };
  const complain = (problem) => { alert.textContent = problem ? `The figure can't be drawn: ${problem.message ?? problem}` : ""; };
  const places = (charts) => {
    if (charts.map((c) => c.key).join() !== box.keys) {
      for (const node of box.querySelectorAll(".pdsynth-canvas")) Plotly.purge(node);
      box.replaceChildren();
      for (const _ of charts) { const node = element(box, "div", "pdsynth-chart"); element(node, "div", "pdsynth-title"); element(node, "div", "pdsynth-canvas"); }
      box.keys = charts.map((c) => c.key).join();
    }
    return [...box.children];
  };
  const draw = () => {
    frame = 0;
    const root = el.closest(".pdsynth-live");
    if (!look && root) {
      look = attend(root, stop.signal);
      for (const part of root.querySelectorAll(".pdsynth-told, .pdsynth-alert, .pdsynth-status")) resize.observe(part);
    }
    look?.();
    mode.wide = mode.root().clientWidth >= WIDE;
    mode.root().classList.toggle("pdsynth-wide", mode.wide); // first: it makes the chart's room
    width = box.clientWidth;
    if (!Plotly || !width) return; // a hidden tab draws when it is shown
    try {
      const figure = themed(model.get("figure"), model.get("dark_colours"), readTheme(box));
      const { title } = figure.layout;
      mode.state.textContent = [title?.text ?? title, title?.subtitle?.text].filter((text) => typeof text === "string" && text).join(" · ");
      for (const trace of figure.data) if (hidden.has(trace.name)) trace.visible = false;
      const charts = cut(figure), nodes = places(charts);
      mode.show(charts.length);
      const one = charts[mode.chart];
      meta = figure.layout.meta ?? {};
      const grabbed = mode.chart ? null : meta.grab;
      people(strip, grabbed, (values) => { falls = true; send(values); });
      const many = mode.on ? 0 : crop(one, showAll);
      Object.entries({ play: meta.play, rain: grabbed && "rain" in meta, more: meta.more, all: many }).forEach(([key, on]) => { buttons[key].hidden = !on; });
      if (meta.more) buttons.more.textContent = meta.more.label;
      buttons.all.textContent = showAll ? "Show 8" : `Show all ${many}`;
      legend(keys, figure, one, hidden, schedule);
      nodes.forEach((node, place) => { node.hidden = place !== mode.chart; });
      const [heading, canvas] = nodes[mode.chart].children;
      const held = grabbed ? (grabbed.people.length > 1 ? "a person" : "the person") : meta.drag?.chart === one.key ? "the line" : "";
      heading.textContent = held ? `Drag ${held}: ${one.title[0].toLowerCase()}${one.title.slice(1)}` : one.title; // a drawing can't be dragged
      canvas.setAttribute("role", canvas.querySelector(".pdsynth-knob") ? "group" : "img");
      canvas.setAttribute("aria-label", model.get("alt"));
      const config = { displaylogo: false, displayModeBar: false };
      const least = mode.on ? 18 : mode.wide ? 12 : 11;
      const height = Math.max(mode.height(canvas, one.height), leastHeight(one, least));
      canvas.style.minHeight = `${height}px`; // the page doesn't jump while a figure is redrawn
      const drawn = Plotly.react(canvas, enlarge(one.data, least), fit(one, canvas.clientWidth, height, least), config);
      Promise.resolve(drawn).then(() => {
        complain(null);
        handle(canvas, meta.drag?.chart === one.key ? meta.drag : null, send, meta.drag?.label);
        if (falls && grabbed && "rain" in meta) rain(canvas, one.data.at(-1));
        falls = false;
      }, complain).then(rest);
    } catch (problem) {
      complain(problem);
      rest();
    }
  };
  const restyle = () => { schedule(); setTimeout(schedule, 400); }; // the theme's style sheet arrives after its name
  const wait = () => {
    clearTimeout(waiting);
    mode.cue.textContent = "";
    if (model.get("busy")) waiting = setTimeout(() => { mode.cue.textContent = "computing …"; }, SLOW);
  };

  const resize = new ResizeObserver(() => { if (mode.full || box.clientWidth !== width) schedule(); }); // a full screen is shared with words
  const theme = new MutationObserver(restyle);
  const system = matchMedia("(prefers-color-scheme: dark)");
  resize.observe(el);
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "theme", "data-theme"] });
  system.addEventListener("change", restyle, { signal: stop.signal });
  addEventListener("resize", schedule, { signal: stop.signal }); // a chart is as high as the window allows
  const heard = { "change:figure": schedule, "change:alt": schedule, "change:busy": wait };
  for (const [event, act] of Object.entries(heard)) model.on(event, act);

  const waits = () => { note.textContent = NO_KERNEL; };
  library(model, waits).then(
    (found) => { Plotly = found; note.remove(); schedule(); },
    (problem) => { if (!stop.signal.aborted) { note.remove(); complain(problem); } },
  );
  schedule();
  return () => {
    stop.abort();
    waits.stop?.();
    cancelAnimationFrame(frame);
    clearTimeout(waiting);
    clearInterval(playing);
    resize.disconnect();
    theme.disconnect();
    for (const [event, act] of Object.entries(heard)) model.off(event, act);
    for (const node of box.querySelectorAll(".pdsynth-canvas")) Plotly?.purge(node);
  };
}

export default { render };
