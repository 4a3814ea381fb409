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

function attend(root, signal) {
  const opened = new Set();
  root.setAttribute("role", "group");
  root.addEventListener("toggle", (event) => {
    const key = event.target.querySelector?.("summary")?.textContent;
    if (key) opened[event.target.open ? "add" : "delete"](key);
  }, { capture: true, signal });
  let frame = 0;
  const look = () => { frame ||= requestAnimationFrame(() => { frame = 0; nameControls(root); keepOpen(root, opened); }); };
  const watch = new MutationObserver(look);
  for (const part of root.querySelectorAll(".pdsynth-controls, .pdsynth-alert, .pdsynth-status, .pdsynth-tables"))
    watch.observe(part, { childList: true, subtree: true });
  signal.addEventListener("abort", () => watch.disconnect());
  look();
  return look;
}

function element(parent, role, className) {
  const node = parent.appendChild(document.createElement("div"));
  node.setAttribute("role", role);
  node.className = className;
  return node;
}

function render({ model, el }) {
  const stop = new AbortController();
  const alert = element(el, "alert", "pdsynth-plot-error");
  const note = element(el, "status", "pdsynth-plot-note");
  const box = element(el, "img", "pdsynth-plot");
  box.style.color = "var(--jp-ui-font-color1, inherit)";
  note.textContent = WAITING;
  let Plotly = null, frame = 0, look = null, width = 0;

  const complain = (problem) => { alert.textContent = problem ? `The figure can't be drawn: ${problem.message ?? problem}` : ""; };
  const draw = () => {
    frame = 0;
    if (!look) { const root = el.closest(".pdsynth-live"); if (root) look = attend(root, stop.signal); }
    look?.();
    box.setAttribute("aria-label", model.get("alt"));
    width = box.clientWidth;
    if (!Plotly || !width) return; // a hidden tab draws when it is shown
    try {
      const figure = themed(model.get("figure"), model.get("dark_colours"), readTheme(box));
      figure.layout.width ??= width;
      box.style.minHeight = `${figure.layout.height ?? 420}px`; // the page doesn't jump while a figure is redrawn
      const config = { displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
      Promise.resolve(Plotly.react(box, figure.data, figure.layout, config)).then(() => complain(null), complain);
    } catch (problem) {
      complain(problem);
    }
  };
  const schedule = () => { frame ||= requestAnimationFrame(draw); };
  const restyle = () => { schedule(); setTimeout(schedule, 400); }; // the theme's style sheet arrives after its name

  const resize = new ResizeObserver(() => { if (box.clientWidth !== width) schedule(); });
  const theme = new MutationObserver(restyle);
  const system = matchMedia("(prefers-color-scheme: dark)");
  resize.observe(el);
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "theme", "data-theme"] });
  system.addEventListener("change", restyle, { signal: stop.signal });
  model.on("change:figure", schedule);
  model.on("change:alt", schedule);

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
    resize.disconnect();
    theme.disconnect();
    model.off("change:figure", schedule);
    model.off("change:alt", schedule);
    Plotly?.purge(box);
  };
}

export default { render };
