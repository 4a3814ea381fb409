"""The README's moving picture: made by its command, small, in the first screen, still on wish."""

import re
import sys
from xml.etree import ElementTree

import pytest


@pytest.fixture(scope="module")
def moving(root):
    sys.path.insert(0, str(root / "notebooks"))
    import moving

    yield moving
    sys.path.remove(str(root / "notebooks"))


@pytest.fixture(scope="module")
def committed(root):
    return (root / "notebooks" / "pictures" / "moving.svg").read_text(encoding="utf-8")


def test_the_committed_picture_is_what_the_command_makes(moving, committed):
    assert moving.picture() == committed, "run python notebooks/moving.py"
    assert len(committed.encode()) <= 400_000


def test_each_frame_is_seen_once_in_a_turn_and_the_first_stands_without_motion(moving, committed):
    frames = [node for node in ElementTree.fromstring(committed) if node.get("class") == "frame"]
    delays = [float(node.get("style").removeprefix("animation-delay:")[:-1]) for node in frames]
    assert delays == [place * moving.SECONDS for place in range(len(moving.FRAMES))]
    style = re.search("<style>(.*)</style>", committed)[1]
    still, motion = style.split("@media (prefers-reduced-motion:no-preference)")
    assert ".frame:first-of-type{visibility:visible}" in still and "animation" not in still
    assert f"turn {moving.SECONDS * len(frames):g}s step-end infinite" in motion


def test_only_the_frame_with_half_of_the_noise_is_broken(committed):
    said = re.findall(r"chance ([\d.]+) times; ([\d.]+) is allowed", committed)
    assert [seen == allowed for seen, allowed in said] == [True] * 7 + [False]


def test_the_readme_shows_it_in_its_first_screen_and_says_it_in_words(root):
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    picture = next(line for line in lines[:8] if line.startswith("!["))
    alt = re.fullmatch(r"!\[([^\]]+)\]\(notebooks/pictures/moving\.svg\)", picture)[1]
    assert len(alt.split()) > 10
    pages = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "python notebooks/moving.py" in pages
