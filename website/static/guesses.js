// Guesses without a kernel: a guess is typed and committed, then the answer, which the page holds folded, opens.

// As pdsynth/course/typed.py reads it: 1.5 and 1,5; 1,000 and 1 000; 1/3; 12 %.
export function readTyped(text) {
  const [above, below, ...more] = text.split("/");
  if (below !== undefined) {
    const [number, divisor] = [readTyped(above), readTyped(below)];
    return more.length || number === null || !divisor ? null : number / divisor;
  }
  let plain = text.replace(/[\s%_]/g, "").replaceAll("−", "-");
  const digits = plain.replace(/^[-+]+/, "");
  if (/^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(digits)) plain = plain.replaceAll(",", "");
  else if (/^[1-9]\d{0,2}(\.\d{3})+,\d*$/.test(digits)) plain = plain.replaceAll(".", "").replace(",", ".");
  else plain = plain.replaceAll(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

// As pdsynth/course/guess.py writes it: so many digits, whole numbers whole, one with a unit of its own.
export function write(number, { unit, one, digits }) {
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(number) || 1)));
  const text = number.toLocaleString("en", { maximumFractionDigits: Math.min(places, 20) });
  return `${text} ${number === 1 ? one : unit}`.trim();
}

function ask(node) {
  const facts = JSON.parse(node.dataset.guess), folded = node.querySelector("details");
  const question = node.querySelector("span").textContent, menu = facts.options.length > 0;
  const form = document.createElement("form"), label = form.appendChild(document.createElement("label"));
  label.append("Your guess ");
  const field = label.appendChild(document.createElement(menu ? "select" : "input"));
  if (menu) for (const text of ["", ...facts.options]) field.add(new Option(text || "choose …", text));
  else Object.assign(field, { type: "text", inputMode: "decimal", autocomplete: "off", placeholder: facts.unit || "a number" });
  field.setAttribute("aria-label", `Your guess: ${question}`);
  const button = form.appendChild(document.createElement("button"));
  button.textContent = "Commit and see";
  const said = form.appendChild(document.createElement("span"));
  said.setAttribute("role", "status");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = field.value.trim(), number = menu ? null : readTyped(typed);
    if (!typed) { said.textContent = "Give a guess first: a wrong one teaches more than none."; return; }
    if (!menu && typed.includes("%") && !["%", "of 100"].includes(facts.unit)) { said.textContent = "Without %, please: a number, such as 12 or 0.5."; return; }
    if (!menu && number === null) { said.textContent = "A number, please, such as 12 or 0.5."; return; }
    field.disabled = button.disabled = true;
    said.textContent = `You: ${menu ? typed : write(number, facts)}`;
    folded.hidden = false;
    folded.open = true;
  });
  folded.hidden = true; // until a guess is given; without this script it opens by itself
  folded.querySelector("summary").textContent = "The answer";
  folded.before(form);
}

for (const node of document.querySelectorAll(".pdsynth-guess[data-guess]")) ask(node);
