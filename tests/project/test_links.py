"""Every relative link of every Markdown page leads to a file of the repository, and to its part."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
# Pages of the website link to other pages of the website, which its own tests follow.
ELSEWHERE = {".venv", ".git", "build", "website"}
LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")
OUTSIDE = re.compile(r"[a-z]+:")


def pages():
    """All Markdown pages of the repository."""
    for path in sorted(ROOT.rglob("*.md")):
        if not ELSEWHERE & set(path.relative_to(ROOT).parts) and ".pytest_cache" not in path.parts:
            yield path


def without_code(text):
    """A page without what only looks like a link."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`(?!\])", "", text)


@cache
def anchors(path):
    """The parts of a page, named as code hosts name them: small letters, blanks as dashes."""
    text = path.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return set(re.findall(r'<a id="([^"]+)">', text)) | {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


def broken(path, text):
    """Links of a page that lead nowhere."""
    wrong = []
    for link in LINK.findall(without_code(text)):
        if OUTSIDE.match(link):
            continue
        name, _, part = unquote(link).partition("#")
        target = (path.parent / name).resolve() if name else path
        here = target.exists() and target.is_relative_to(ROOT)
        if not here or (part and target.suffix == ".md" and part not in anchors(target)):
            wrong.append(link)
    return wrong


def test_no_relative_link_is_broken():
    found = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in pages()}
    assert {"README.md", "PROMISE.md", "figures/SCOREBOARD.md", "notebooks/README.md"} <= set(found)
    assert {
        name: wrong for name, text in found.items() if (wrong := broken(ROOT / name, text))
    } == {}


def test_twin_a_link_to_a_file_or_a_part_that_is_gone_is_found():
    text = "[a](GUIDE.md) [b](GUIDE.md#extras) [c](https://example.org) `[d](gone.md)`"
    assert broken(ROOT / "README.md", text) == []
    gone = "[a](GONE.md) [`b`](GUIDE.md#no-such-part) ![c](gone.svg) [d](../outside.md)"
    assert broken(ROOT / "README.md", gone) == [
        "GONE.md",
        "GUIDE.md#no-such-part",
        "gone.svg",
        "../outside.md",
    ]
