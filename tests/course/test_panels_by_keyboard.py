"""In a real browser: each panel that has controls of its own follows the keyboard, says what it
should, refuses what it can't do, and keeps its last good figure. Themes and sizes are checked for
all panels together in ``test_panel_layout.py``."""

import pytest
from browser_tools import CHROMIUM, send, still

pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
# What is drawn in every chart, one after another; the last step leads back to the first.
CHARTS = """async panel => {
  const found = [], next = panel.querySelector('[aria-label="next chart"]');
  const plot = panel.querySelector('.pdsynth-plot');
  for (const _ of panel.querySelectorAll('.pdsynth-chart')) {
    for (const path of panel.querySelectorAll('.pdsynth-chart:not([hidden]) .cartesianlayer path'))
      found.push(path.getAttribute('d') + path.getAttribute('transform'));
    if (next.offsetWidth) next.click();
    while (plot.ariaBusy !== 'false') await new Promise(requestAnimationFrame);
  }
  return found.join(); }"""
EPSILON = "ε, privacy budget"


class Watch:
    """What a panel has drawn and said so far: at its start, and after each move."""

    def __init__(self, panel):
        self.panel, self.drawn, self.tables, self.said = panel, [], [], []
        self.look()

    def look(self):
        still(self.panel)
        self.drawn.append(self.panel.evaluate(CHARTS))
        self.tables.append(self.panel.locator(".pdsynth-table").first.text_content())
        said = self.panel.locator(".pdsynth-status, .pdsynth-tables").all_text_contents()
        self.said.append(" ".join(said))

    def state(self, words):
        """Wait until the line above the figure says these words, then look."""
        self.panel.locator(".pdsynth-state").filter(has_text=words).wait_for()
        self.look()

    def press(self, name, key, times, words):
        handle = self.panel.get_by_role("slider", name=name)
        handle.focus()
        for _ in range(times):
            handle.press(key)
        self.state(words)

    def type(self, name, control, value, words):
        """A value into a control's box: nothing is computed on the way, and the slider follows."""
        box = self.panel.locator(f".pdsynth-c-{control} input[type=number]")
        box.fill(value)
        box.press("Enter")
        self.state(words)
        self.panel.page.wait_for_function(
            "([slider, value]) => Number(slider.getAttribute('aria-valuenow')) === value",
            arg=[self.panel.get_by_role("slider", name=name).element_handle(), float(value)],
        )

    def choose(self, place, label, words):
        self.panel.locator("select").nth(place).select_option(label=label)
        self.state(words)

    def ledger(self, words):
        """The text of the first table with these words, not its layout."""
        found = self.panel.locator(".pdsynth-table").filter(has_text=words).first
        found.wait_for(state="attached")
        return found.text_content()

    def alert(self, words):
        self.panel.locator("span[role=alert]").filter(has_text=words).wait_for()

    def status(self, words):
        said = self.panel.locator(".pdsynth-status, .pdsynth-tables").filter(has_text=words)
        said.first.wait_for(state="attached")

    def details(self, words):
        self.panel.locator(".pdsynth-tables").filter(has_text=words).wait_for(state="attached")

    def shown(self):
        return self.panel.locator(".pdsynth-state").text_content()

    def walk(self, epsilon, words, *choices):
        """Type ε, then choose from menus: (place, option, the line above the figure). Every step
        draws another figure."""
        self.type(EPSILON, "epsilon", epsilon, words)
        for choice in choices:
            self.choose(*choice)
        assert len(set(self.drawn)) == len(self.drawn) == 2 + len(choices)


def test_hpprivbayes_published_turns_the_ledger_red_and_refuses(fresh):
    panel = Watch(fresh("hpprivbayes"))
    panel.choose(0, "published", "as published")
    assert panel.ledger("NOT DIFFERENTIALLY PRIVATE").count("∞, read raw") == 3
    handle = panel.panel.get_by_role("slider", name="θ, threshold")
    handle.focus()
    handle.press("End")  # every attribute but the sensitive one is now in B: d − k − l < 0
    panel.alert("d − k − l")
    assert "as published" in panel.shown(), "the last good figure stays"


def test_custom_network_panel_follows_its_controls(fresh):
    """Heat maps, disclosure and utility follow ε, k and the sensitive attribute (lesson 14)."""
    panel = Watch(fresh("custom"))
    panel.walk(
        "2", "Custom network for relationship: ε = 2, k = auto",
        (1, "2", "k = 2"), (0, "sex", "Custom network for sex"),
        (2, "none (the paper)", "no noise"),
    )  # fmt: skip
    assert len(set(panel.said)) == 5
    assert "7/150 (known before the run)" in panel.said[0]
    assert "7/75 (known before the run)" in panel.said[1]
    assert "for sex" in panel.shown() or "sex" in panel.said[4]
    assert "known before the run" not in panel.said[4], (
        "without noise nothing is known but infinity"
    )
    assert panel.ledger("NOT PRIVATE")


def test_hmprivbayes_panel_published_and_refused(fresh):
    panel = Watch(fresh("hmprivbayes"))
    panel.type(EPSILON, "epsilon", "1.2", "ε = 1.2")
    panel.press("k, number of clusters", "ArrowLeft", 1, "k = 2")
    panel.press("l, largest number of parents", "ArrowLeft", 1, "l = 1")
    panel.type("η, weakest tie", "eta", "0.6", "η = 0.6")
    assert len(set(panel.drawn)) == 5, "clusters, networks, noise and distances follow"
    assert "6/5" in panel.tables[1]
    assert len(set(panel.tables)) >= 4, "the ledger follows ε, k and l"
    panel.panel.locator("select").first.select_option("published")
    panel.state("as published")
    assert panel.ledger("NOT DIFFERENTIALLY PRIVATE").count("∞, read raw") == 1
    # 1.2 · (26·51 + 2·104)/155
    assert "(11.88 without the raw entropies)" in panel.said[-1]
    panel.panel.locator("select").first.select_option("strict")
    panel.state("strict")
    # 20 clusters of 15 attributes
    panel.panel.get_by_role("slider", name="k, number of clusters").press("End")
    panel.alert("1 to d = 15")
    assert "k = 2" in panel.shown(), "the last good figure stays"
    panel.press("k, number of clusters", "Home", 1, "k = 1")


def test_privabn_panel_shows_two_worlds(fresh):
    panel = Watch(fresh("privabn"))
    panel.type(EPSILON, "epsilon", "0.1", "ε = 0.1")
    panel.press("α, attributes in a query", "ArrowRight", 2, "α = 5")
    assert len(set(panel.drawn)) == 3, "networks, errors and the two worlds follow both sliders"
    first, second, third = panel.tables
    assert first != second == third, "α is a question about the release, and costs nothing"
    assert "as published" in first and first.count("∞, read raw") >= 1
    strict = panel.panel.locator(".pdsynth-table").nth(1).text_content()
    assert "NOT PRIVATE: reproducible" in strict and "1/10" in strict
    assert "strict 0.1." in panel.said[-1]
    assert "people are alone in some column" in panel.said[-1]


def test_the_audit_s_bound_climbs_past_the_claim(fresh):
    panel = Watch(fresh("auditing"))
    panel.status("Violated: claimed ε = 1,")
    panel.type("ε, what the step claims", "epsilon", "0.3", "ε = 0.3")
    panel.status("Not refuted: claimed ε = 0.3")
    panel.press("runs of each world", "Home", 1, "1,000 runs")
    panel.choose(0, "hpprivbayes-shared-row-noise", "shared-row-noise: ε = 0.3, 1,000 runs")
    panel.status("Violated: claimed ε = 0.3")
    assert len(set(panel.drawn)) == 4, "bound and histograms follow every control"
    assert "The ledger says" in panel.tables[-1]


def test_ppba_panel_published(fresh):
    panel = Watch(fresh("ppba"))
    panel.press(EPSILON, "ArrowRight", 2, "ε = 1.2")
    panel.press("k, parents of a column", "ArrowRight", 1, "k = 2")
    panel.press("q, budget of a table", "End", 1, "q = 2")
    assert len(set(panel.drawn)) == 4, "network, budgets, distances and losses follow"
    assert "6/5" in panel.tables[1] and panel.tables[2] != panel.tables[1]
    assert "true ε = 1.2." in panel.said[-1] and "the lightest" in panel.said[-1]
    panel.panel.locator("select").first.select_option("published")
    panel.state("as published")
    assert panel.ledger("NOT DIFFERENTIALLY PRIVATE").count("∞, read raw") == 1


def test_side_by_side_panel_and_its_choices(fresh):
    panel = Watch(fresh("side_by_side"))
    panel.walk(
        "0.9", "ε = 0.9",
        (0, "4", "k = 4"), (2, "sex", "sensitive: sex"), (1, "published", "as published"),
    )  # fmt: skip
    panel.status("No finite ε holds for")
    assert "Before you spend." in panel.tables[-1]
    assert "noise ÷ mean cell" in panel.tables[-1]


def test_evaluation_panel_and_its_choices(fresh):
    panel = Watch(fresh("evaluating"))
    panel.walk(
        "0.8", "ε = 0.8",
        (2, "3-way distance", "measure = 3-way distance"), (1, "1", "k = 1"),
        (0, "copy of the records", "table = copy of the records"),
    )  # fmt: skip
    standings = panel.tables
    assert len(set(standings[:4])) == 4 and standings[3] == standings[4], (
        "the standings are of all tables"
    )
    panel.status("Mean variation distance of a triple 0.000")


def test_own_data_panel_its_text_and_a_file(fresh):
    """Lesson 19: sliders, an edited declaration, a bad and a good file of the student's; the page
    keeps no record of it."""
    panel = Watch(fresh("own_data"))
    panel.type("ε, what one person may lose", "epsilon", "0.8", "ε = 0.8")
    panel.press("records of one person", "ArrowRight", 3, "records = 4")
    panel.details("so a fit may spend 0.2.")
    panel.type("bins of a range", "bins", "4", "bins = 4")
    text = panel.panel.get_by_role("textbox", name="Declaration")
    country = "native-country: US | elsewhere + missing"
    text.fill(text.input_value().replace("native-country: ?", country))
    text.press("Tab")
    panel.details("32,561 rows × 9 columns")
    text.fill("age: young")
    text.press("Tab")
    panel.alert("'young' declares no domain")
    panel.details("32,561 rows × 9 columns")
    button = panel.panel.get_by_role("button", name="Your CSV file")
    bad, good = b"PK\x03\x04", b"id,age,ward\n" + b"7351,34,2\n" * 500
    send(button, "bad.csv", bad)
    panel.alert("an Excel spreadsheet")
    send(button, "ward.csv", good)
    panel.status("2 still open")
    text.page.wait_for_function(
        "box => box.value === 'id: drop\\nage: ?\\nward: ?'", arg=text.element_handle()
    )
    button.filter(has_text="(0)").wait_for()  # the page has forgotten the file
    text.fill("age: 0 to 120\nward: 1 | 2 | 3")
    text.press("Tab")
    panel.details("500 rows × 2 columns")
    panel.state("ward.csv")
    assert len({panel.drawn[place] for place in (0, 1, 3, 4)}) == 4, (
        "the figure follows sliders, text and file"
    )
    code = panel.panel.locator(".pdsynth-table").nth(1).text_content()
    assert 'age = "0 to 120 in 4 bins"' in code
