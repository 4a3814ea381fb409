"""The changelog: short for each release, and fragments that the release can join."""

import re
import tomllib

import pytest

MOST_LINES = 40  # of a release
MOST_WORDS = 60  # of a fragment


@pytest.fixture(scope="module")
def settings(root):
    with (root / "towncrier.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["towncrier"]


def misfits(fragments, settings):
    """Fragments, by file name, that the release would leave out, or that say nothing, or a lot."""
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    return [
        name
        for name, text in fragments.items()
        if not re.fullmatch(rf"\+[a-z0-9-]+\.({kinds})\.md", name)
        or not 0 < len(text.split()) <= MOST_WORDS
    ]


def test_every_fragment_is_one_that_the_release_joins(root, settings):
    folder = root / settings["directory"]
    names = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert names.keys() >= set(settings["ignore"])
    found = {name: text for name, text in names.items() if name not in settings["ignore"]}
    assert misfits(found, settings) == []


@pytest.mark.parametrize("name", ["order.fixed.md", "+order.repaired.md", "+order.fixed.txt"])
def test_twin_a_fragment_that_the_release_would_leave_out_is_found(name, settings):
    assert misfits({"+order.fixed.md": "Rows come in order."}, settings) == []
    assert misfits({name: "Rows come in order."}, settings) == [name]
    assert misfits({"+order.fixed.md": ""}, settings)
    assert misfits({"+order.fixed.md": "word " * (MOST_WORDS + 1)}, settings)


def test_the_changelog_has_its_marker_and_short_releases(root, settings):
    text = (root / settings["filename"]).read_text(encoding="utf-8")
    assert text.count(settings["start_string"]) == 1 and "[Unreleased]" not in text
    releases = re.split(r"^(?=## \[)", text, flags=re.M)[1:]
    assert len(releases) >= 2
    assert [r.split("\n")[0] for r in releases if len(r.strip().splitlines()) > MOST_LINES] == []


def test_the_kinds_are_those_that_the_folder_s_page_lists(root, settings):
    page = (root / settings["directory"] / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\* `(\w+)`:", page, flags=re.M)
    assert listed == [kind["directory"] for kind in settings["type"]]
