// Boxes that scroll are reached by keyboard and have a name; panels fill theirs anew whenever they move.
function reach() {
  for (const box of document.querySelectorAll("article :is(div, p, pre, mjx-container)")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    if (!scrolls || box.tabIndex === 0 || box.querySelector("a[href], button, input, select, summary, [tabindex='0']")) continue;
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    const what = box.querySelector("table") ? "table, " : box.matches("p") ? "picture, " : "";
    box.setAttribute("aria-label", `${what}scrolls sideways`);
  }
}

let asked = 0;
const later = () => { cancelAnimationFrame(asked); asked = requestAnimationFrame(reach); };
new MutationObserver(later).observe(document.querySelector("article") ?? document.body, { childList: true, subtree: true });
addEventListener("resize", later);
later();
