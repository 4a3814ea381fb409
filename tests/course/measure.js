// What is wrong with the texts and scroll bars of an element, as a list of sentences.
// Texts are compared as boxes in their own direction, so that slanted labels don't seem to overlap.
(root) => {
  const found = [], EDGE = 2; // pixels that a box of a text may be larger than what is drawn
  const style = (node) => getComputedStyle(node);
  const short = (text) => JSON.stringify(text.trim().slice(0, 40));
  const known = new Map();
  const hidden = (node) => {
    if (!node || node === document) return false;
    if (!known.has(node)) {
      const s = style(node);
      const itself = s.display === "none" || s.visibility === "hidden" || Number(s.opacity) === 0 || s.clipPath === "inset(50%)"; // as for screen readers alone
      known.set(node, itself || hidden(node.parentElement ?? node.getRootNode().host));
    }
    return known.get(node);
  };
  const scrolls = (node) => /auto|scroll/.test(style(node).overflowX + style(node).overflowY);

  const wide = (node, table) => table && [...node.querySelectorAll("table, svg, pre")].some((n) => n.getBoundingClientRect().width > node.clientWidth);

  // scroll bars: none but of tables, and there only if there is something to scroll to
  for (const node of [root.parentElement, root, ...root.querySelectorAll("*")]) {
    if (node.namespaceURI.endsWith("svg") || !node.clientWidth || hidden(node) || node.tagName === "TEXTAREA") continue;
    const s = style(node), across = node.scrollWidth - node.clientWidth, down = node.scrollHeight - node.clientHeight;
    const table = node.closest(".pdsynth-table"), name = `${node.tagName}.${node.className}`.slice(0, 60);
    if (/auto|scroll/.test(s.overflowX) && across > 0 && !wide(node, table)) found.push(`scroll bar across of ${across} px: ${name}`);
    if (/auto|scroll/.test(s.overflowY) && down > 0 && (!table || down < 5) && !node.matches(":fullscreen") && node !== root.parentElement)
      found.push(`scroll bar down of ${down} px: ${name}`);
    if (s.overflowX === "hidden" && across > 1 && s.textOverflow === "ellipsis") found.push(`text cut with an ellipsis: ${short(node.textContent)}`);
  }
  for (const node of root.querySelectorAll("button")) {
    if (!hidden(node) && node.scrollWidth > node.clientWidth + 1) found.push(`text cut in a button: ${short(node.textContent)}`);
  }
  // a menu shows one of its options, and any of them may be chosen
  const pen = document.createElement("canvas").getContext("2d");
  for (const node of root.querySelectorAll("select")) {
    if (hidden(node)) continue;
    const s = style(node), arrow = s.appearance === "none" ? 0 : 20;
    pen.font = `${s.fontWeight} ${s.fontSize} ${s.fontFamily}`;
    const room = node.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight) - arrow;
    for (const { text } of node.options) {
      const over = pen.measureText(text).width - room;
      if (over > EDGE) found.push(`text cut by ${over.toFixed(0)} px in a menu: ${short(text)}`);
    }
  }

  // all texts: four corners each, and what cuts them
  const texts = [];
  const add = (node, text, corners) => {
    if (!text.trim() || hidden(node)) return;
    const xs = corners.map((p) => p[0]), ys = corners.map((p) => p[1]);
    const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    if (box.right - box.left < 1 || box.bottom - box.top < 1) return;
    for (let n = node; n && n !== root.parentElement; n = n.parentElement) {
      const s = style(n);
      if (n.closest(".pdsynth-table") && scrolls(n)) return; // may be scrolled to
      if (n.matches?.(":fullscreen")) break;
      const clips = (s.overflowX !== "visible" || s.overflowY !== "visible") && (n.namespaceURI.endsWith("html") || n.classList.contains("main-svg"));
      if (!clips) continue;
      const r = n.getBoundingClientRect();
      const over = Math.max(r.left - box.left, box.right - r.right, r.top - box.top, box.bottom - r.bottom);
      if (over > EDGE) { found.push(`text cut by ${over.toFixed(0)} px: ${short(text)} in ${n.tagName}.${(n.getAttribute("class") ?? "").slice(0, 40)}`); break; }
    }
    texts.push({ node, text, corners, box });
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange(); // one: whatever changes on the page is told to each
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const parent = n.parentElement;
    if (!parent || parent.namespaceURI.endsWith("svg") || /STYLE|SCRIPT|OPTION|TEXTAREA/.test(parent.tagName) || !n.data.trim()) continue;
    if (parent.closest("details:not([open])") && !parent.closest("summary")) continue;
    range.selectNodeContents(n);
    for (const r of range.getClientRects()) {
      const inset = Math.max(0, (r.height - 1.1 * parseFloat(style(parent).fontSize)) / 2);
      add(parent, n.data, [[r.left, r.top + inset], [r.right, r.top + inset], [r.right, r.bottom - inset], [r.left, r.bottom - inset]]);
    }
  }
  const clipped = (node) => { // the pixels of what cuts a node of a picture, or nothing
    const clip = node.closest("[clip-path]"), rect = clip && document.getElementById(clip.getAttribute("clip-path").match(/#([^)'"]+)/)?.[1])?.firstElementChild?.getBBox();
    if (!rect) return null;
    const m = clip.getScreenCTM();
    return { left: m.a * rect.x + m.e, right: m.a * (rect.x + rect.width) + m.e, top: m.d * rect.y + m.f, bottom: m.d * (rect.y + rect.height) + m.f };
  };
  for (const node of root.querySelectorAll("svg.main-svg text")) {
    if (node.closest(".hoverlayer, .modebar")) continue;
    const b = node.getBBox(), m = node.getScreenCTM(), pad = b.height * 0.12;
    if (!m || !b.width) continue;
    const corners = [[b.x, b.y + pad], [b.x + b.width, b.y + pad], [b.x + b.width, b.y + b.height - pad], [b.x, b.y + b.height - pad]];
    const there = corners.map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
    const clip = clipped(node), tall = there.map(([, y]) => y);
    if (clip && (Math.min(...tall) > clip.bottom || Math.max(...tall) < clip.top)) continue; // a row behind "Show all"
    add(node, node.textContent, there);
    if (!clip) continue;
    const { left, right } = clip;
    const over = Math.max(...there.map(([x]) => Math.max(x - right, left - x)));
    if (over > EDGE) found.push(`text cut by ${over.toFixed(0)} px: ${short(node.textContent)} at the edge of its chart`);
  }

  // no two texts overlap: two convex boxes are apart if some side of one separates them
  const apart = (one, two) => [one, two].some(({ corners: c }) => c.some((p, i) => {
    const q = c[(i + 1) % 4], [nx, ny] = [q[1] - p[1], p[0] - q[0]], length = Math.hypot(nx, ny);
    if (length < 0.5) return false;
    const span = ({ corners }) => corners.map(([x, y]) => (x * nx + y * ny) / length);
    const a = span(one), b = span(two);
    return Math.max(...a) - 1 <= Math.min(...b) || Math.max(...b) - 1 <= Math.min(...a);
  }));
  for (let i = 0; i < texts.length; i++)
    for (let j = 0; j < i; j++) {
      const [a, b] = [texts[i], texts[j]];
      if (a.box.right <= b.box.left || b.box.right <= a.box.left || a.box.bottom <= b.box.top || b.box.bottom <= a.box.top) continue;
      if (a.node === b.node || a.node.contains(b.node) || b.node.contains(a.node)) continue;
      if (!apart(a, b)) found.push(`texts overlap: ${short(a.text)} and ${short(b.text)}`);
    }
  // no dashed line crosses a text: points of it, a pixel or two apart, in the box of the text
  const crossed = ({ corners: [a, b, , d] }, [x, y]) => {
    const along = (p) => {
      const [ux, uy] = [p[0] - a[0], p[1] - a[1]], length = Math.hypot(ux, uy);
      const at = ((x - a[0]) * ux + (y - a[1]) * uy) / length;
      return at > EDGE && at < length - EDGE;
    };
    return along(b) && along(d);
  };
  for (const node of root.querySelectorAll("svg.main-svg :is(path, line)")) {
    const s = style(node);
    if (s.strokeDasharray === "none" || s.stroke === "none" || node.closest(".legend, .hoverlayer, .modebar") || hidden(node)) continue;
    const m = node.getScreenCTM(), whole = node.getTotalLength(), points = [];
    const drawn = clipped(node) ?? node.closest("svg").getBoundingClientRect();
    for (let at = 0; at <= whole; at += 1.5) {
      const { x, y } = node.getPointAtLength(at), p = [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f];
      if (p[0] >= drawn.left && p[0] <= drawn.right && p[1] >= drawn.top && p[1] <= drawn.bottom) points.push(p);
    }
    for (const text of texts)
      if (text.node.closest("svg") && points.some((p) => crossed(text, p))) found.push(`dashed line through ${short(text.text)}`);
  }
  const sizes = texts.map(({ node }) => parseFloat(style(node).fontSize));
  return { found: [...new Set(found)], texts: texts.length, smallest: Math.min(...sizes) };
}
