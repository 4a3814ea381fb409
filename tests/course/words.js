// Words that a stranger sees in a panel: tokens with a letter in them, also of its charts and menus.
(root) => {
  const seen = (node) => {
    for (let n = node; n && n !== root.parentElement; n = n.parentElement) {
      const s = getComputedStyle(n);
      if (s.display === "none" || s.visibility === "hidden" || s.clipPath === "inset(50%)") return false;
      const fold = n.parentElement?.closest("details:not([open])");
      if (fold && root.contains(fold) && !(n.closest("summary")?.parentElement === fold)) return false;
    }
    return true;
  };
  const words = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let n = walker.nextNode(); n; n = walker.nextNode())
    if (!/STYLE|SCRIPT|OPTION/.test(n.parentElement.tagName) && n.data.trim() && seen(n.parentElement)) words.push(...n.data.trim().split(/\s+/));
  for (const menu of root.querySelectorAll("select")) if (seen(menu)) words.push(...menu.selectedOptions[0].text.split(/\s+/));
  return words.filter((word) => /\p{L}/u.test(word));
}
