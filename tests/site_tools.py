"""A plain file server over a built site, and what its pages ask for."""

import gzip
import re
import sys
import tempfile
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Server:
    """``with Server(folder) as address``: files and nothing else, on a free port."""

    def __init__(self, folder):
        class Files(SimpleHTTPRequestHandler):
            def __init__(self, *parts):
                super().__init__(*parts, directory=str(folder))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Files)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Links(HTMLParser):
    """Names that a page can be asked for, where it leads to, and what it loads."""

    LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}

    def __init__(self, text):
        super().__init__()
        self.names, self.leads, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        at = dict(attrs)
        self.names |= {value for value in (at.get("id"), at.get("name")) if value}
        if tag == "a" and at.get("href"):
            self.leads.append(at["href"])
        # a canonical or a search link loads nothing
        if at.get(self.LOADS.get(tag, "")) and at.get("rel") not in ("canonical", "search"):
            self.loads.append(at[self.LOADS[tag]])


def broken(folder):
    """Links inside a site that lead nowhere, and whatever a page loads from elsewhere."""
    found = [p for p in Path(folder).rglob("*.html") if "_static" not in p.parts]  # templates
    pages = {p.resolve(): Links(p.read_text("utf-8")) for p in found}
    wrong = []
    for path, page in pages.items():
        for link in [*page.leads, *page.loads]:
            target, fragment = urldefrag(link)
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    wrong.append((path.name, link, "loaded from elsewhere"))
                continue
            there = (path.parent / unquote(urlsplit(target).path)).resolve() if target else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                wrong.append((path.name, link, "no such file"))
            elif fragment and there in pages and unquote(fragment) not in pages[there].names:
                wrong.append((path.name, link, "no such place"))
    return wrong


def of_this_machine(root):
    """What only the machine that builds a site has: its folders, and names of its kernels."""
    folders = {Path(root), Path.home(), Path(tempfile.gettempdir()), Path(sys.prefix)}
    folders |= {folder.resolve() for folder in folders} | {Path(sys.base_prefix)}
    words = [f"{folder}/" for folder in folders if folder != Path("/")]
    return [*words, "ipykernel_", "site-packages"]


def leaks(folder, words):
    """Files of a site that hold one of these words, each with what stands around it."""
    apart = re.compile("|".join(rf"(?<![\w.-]){re.escape(word)}" for word in words))
    found = []
    for path in sorted(Path(folder).rglob("*")):
        packed = path.suffix == ".gz"
        if packed or path.suffix in (".html", ".js", ".json", ".css", ".svg", ".txt", ".md"):
            data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
            text = data.decode("utf-8")
            held = any(word in text for word in words)  # much sooner known than where
            for hit in apart.finditer(text) if held else ():
                around = text[max(0, hit.start() - 60) : hit.end() + 40]
                found.append((path.relative_to(folder).as_posix(), around))
    return found
