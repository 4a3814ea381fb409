"""States of the panels, for pages without a kernel: what a live panel shows at each of many places.

``states.toml`` says at which: grids of each panel, each the product of the values of some
controls, with all others where they start. A panel's own buttons are among the places, too.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

GRIDS = tomllib.loads(Path(__file__).with_name("states.toml").read_text(encoding="utf-8"))

YES = {True: "yes", False: "no"}


def packed(topic: str, few: bool = False) -> bytes:
    """The JSON of a panel's states, as the page asks for it."""
    return gzip.compress(of(topic, few).encode(), 9, mtime=0)


def of(topic: str, few: bool = False) -> str:
    """JSON: the controls with their values, and what is shown where, by places as "3,1,0".

    ``few``: of the first grid, only the places where no control but its first is off its start.
    """
    from pdsynth.course import panels
    from pdsynth.course.widgets.live import MAIN

    module = getattr(panels, topic)
    panel = module.panel()
    start = panel.values
    tries = getattr(module.view, "tries", ())
    wanted = [start, *(start | dict(one.sets) for one in tries)]
    grids = GRIDS.get(topic, [])
    for grid in grids[:1] if few else grids:
        rest = [*grid][1:] if few else []
        places = (start | at for at in product(grid))
        wanted += [at for at in places if all(at[name] == start[name] for name in rest)]
    values = {name: ordered(widget, [at[name] for at in wanted])
              for name, widget in panel.controls.items()}  # fmt: skip

    def key(at: dict[str, Any]) -> str:
        return ",".join(str(values[name].index(at[name])) for name in values)

    told = [{"label": one.label, "at": key(start | dict(one.sets)), "says": panel.attempt(one)}
            for one in tries]  # fmt: skip
    held = {}
    for at in wanted:
        if key(at) not in held:
            held[key(at)] = shown(panel.set(**at))
            if panel.values != at:
                raise ValueError(f"states.toml, {topic}: {at} became {panel.values}")
    made = module.view.controls(module.view.table())
    whole = {
        "controls": [
            face(name, w, values[name], made[name]) for name, w in panel.controls.items()
        ],  # fmt: skip
        "main": MAIN,
        "start": key(start),
        "states": held,
        "tries": told,
        "dark": panel.plot.dark_colours,
        "note": panel.children[-1].value,
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def product(grid: dict[str, list]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of a grid."""
    return (dict(zip(grid, at, strict=True)) for at in itertools.product(*grid.values()))


def ordered(widget: Any, values: list[Any]) -> list[Any]:
    """The values of one control in the order of its menu, or of their size."""
    menu = [value for _, value in getattr(widget, "options", ())]
    unknown = [value for value in values if menu and value not in menu]
    if unknown:
        raise ValueError(f"states.toml: {unknown} are not among {menu}")
    return [v for v in menu if v in values] if menu else sorted(set(values))


def face(name: str, widget: Any, values: list[Any], made: Any) -> dict[str, Any]:
    """What the page needs to draw a control."""
    options = {value: text for text, value in getattr(widget, "options", ())}
    bounds = {bound: getattr(widget, bound) for bound in ("min", "max", "step") if not options
              and hasattr(widget, bound)}  # fmt: skip
    label = getattr(widget, "description", "") or made.box.children[0].description
    words = {
        **{str(on): text for on, text in YES.items()},
        **{str(v): t for v, t in options.items()},
    }
    texts = [words.get(str(value), value if isinstance(value, str) else f"{value:g}")
             for value in values]  # fmt: skip
    return {"name": name, "label": label, "ends": made.ends, "words": widget.tooltip,
            "texts": [str(t) for t in texts],
            "menu": bool(options) or isinstance(values[0], bool), **bounds}  # fmt: skip


def shown(panel: Any) -> dict[str, Any]:
    """What stands on the page at the panel's present place."""
    return {
        "figure": plain(json.loads(panel.plot.figure)),
        "alt": panel.plot.alt,
        "status": panel.status.value,
        "alert": panel.alert.value,
        "tables": panel.tables.value,
    }


def plain(value: Any) -> Any:
    """JSON with five digits of every number, arrays as lists."""
    if isinstance(value, dict):
        if "bdata" in value:
            flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            shape = [int(n) for n in str(value.get("shape", flat.size)).split(",")]
            return plain(flat.reshape(shape).tolist())
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value
