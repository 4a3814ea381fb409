// Draws one Plotly figure and follows its model. plotly.js is asked from the kernel once a page.
const KEY = "__pdsynth_plotly__";

function load(model) {
  if (window[KEY]) return window[KEY];
  window[KEY] = new Promise((resolve, reject) => {
    const fail = (why) => { delete window[KEY]; model.off("msg:custom", receive); reject(new Error(why)); };
    const timer = setTimeout(() => fail("no answer from the kernel"), 60000);
    function receive(message, buffers) {
      if (!message || message.type !== "plotlyjs") return;
      clearTimeout(timer);
      model.off("msg:custom", receive);
      const part = buffers[0];
      const source = new TextDecoder().decode(part.buffer ? part : new Uint8Array(part));
      const module = { exports: {} };
      try {
        new Function("module", "exports", "define", source).call(window, module, module.exports, undefined);
      } catch (error) { return fail(error.message); }
      const found = window.Plotly && window.Plotly.react ? window.Plotly : module.exports.Plotly || module.exports;
      resolve(found);
    }
    model.on("msg:custom", receive);
    model.send({ type: "need" });
  });
  return window[KEY];
}

// ipywidgets gives its sliders no accessible name: take it from the label beside them.
function nameSliders() {
  document.querySelectorAll(".pdsynth-live .widget-slider").forEach((row) => {
    const label = row.querySelector(".widget-label");
    row.querySelectorAll("[role=slider]").forEach((handle) => {
      if (label) handle.setAttribute("aria-label", label.title && label.title !== "null" ? label.title : label.textContent);
      const box = row.parentElement && row.parentElement.querySelector("input[type=number]");
      if (box) handle.setAttribute("aria-valuetext", box.value);
    });
  });
}

function themed(figure, box) {
  const ink = getComputedStyle(box).color || "#222";
  const layout = figure.layout;
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.font = { ...(layout.font || {}), color: ink };
  for (const key of Object.keys(layout)) if (/^[xy]axis/.test(key)) layout[key] = { ...layout[key], linecolor: ink };
  return figure;
}

async function render({ model, el }) {
  const box = document.createElement("div");
  box.setAttribute("role", "img");
  box.textContent = "Loading the figure … (run this cell if this line stays)";
  el.appendChild(box);
  let plotly;
  try {
    plotly = await load(model);
  } catch (error) {
    box.textContent = "The figure is not available: run this cell. " + error.message;
    return;
  }
  box.textContent = "";
  const draw = () => {
    nameSliders();
    box.setAttribute("aria-label", model.get("alt"));
    try {
      const figure = themed(JSON.parse(model.get("figure")), box);
      plotly.react(box, figure.data, figure.layout, { responsive: true, displaylogo: false, displayModeBar: false });
    } catch (error) {
      box.textContent = "The figure can't be drawn: " + error.message;
    }
  };
  draw();
  setTimeout(nameSliders, 300);
  const theme = new MutationObserver(draw);
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  const size = new ResizeObserver(() => { if (box.data) plotly.Plots.resize(box); });
  size.observe(el);
  model.on("change:figure", draw);
  model.on("change:alt", draw);
  return () => {
    theme.disconnect();
    size.disconnect();
    model.off("change:figure", draw);
    model.off("change:alt", draw);
    plotly.purge(box);
  };
}

export default { render };
