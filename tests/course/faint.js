// Texts of an element that stand out too little from what is behind them, with their contrast as WCAG defines it.
(root, least) => {
  const style = (node) => getComputedStyle(node);
  const parse = (colour) => { const [r, g, b, a = 1] = (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number); return { rgb: [r, g, b], a }; };
  const over = (top, below) => top.rgb.map((v, i) => v * top.a + below[i] * (1 - top.a));
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const shown = (node) => { for (let n = node; n; n = n.parentElement) { const s = style(n); if (s.display === "none" || s.visibility === "hidden") return false; } return true; };
  const behind = (node) => {
    const above = [];
    for (let n = node; n; n = n.parentElement) {
      const found = parse(style(n).backgroundColor);
      if (found.a > 0) above.push(found);
      if (found.a === 1) break;
    }
    return above.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const faint = [];
  const judge = (node, text, colour) => {
    let opacity = 1;
    for (let n = node; n && n !== root; n = n.parentElement) opacity *= Number(style(n).opacity);
    // a note of a chart may have a box of its own
    const box = node.parentElement?.querySelector(":scope > rect.bg"), own = box && parse(style(box).fill);
    const back = own ? over({ rgb: own.rgb, a: own.a * Number(style(box).fillOpacity) }, behind(node)) : behind(node), ink = parse(colour), front = over({ rgb: ink.rgb, a: ink.a * opacity }, back);
    const [a, b] = [light(front), light(back)], contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (opacity > 0 && contrast < least) faint.push(`${contrast.toFixed(1)}: ${JSON.stringify(text.trim().slice(0, 40))}`);
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const parent = n.parentElement;
    if (!parent || parent.namespaceURI.endsWith("svg") || /STYLE|SCRIPT|OPTION/.test(parent.tagName) || !n.data.trim()) continue;
    if (parent.closest("details:not([open])") && !parent.closest("summary")) continue;
    if (shown(parent) && !parent.closest("button:disabled")) judge(parent, n.data, style(parent).color);
  }
  // texts of charts; those that lie on a bar are Plotly's to choose
  for (const node of root.querySelectorAll("svg.main-svg text"))
    if (shown(node) && !node.closest(".bartext, .hoverlayer, .modebar")) judge(node, node.textContent, style(node).fill);
  return [...new Set(faint)];
}
