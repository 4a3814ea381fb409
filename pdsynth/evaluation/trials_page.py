"""How a grid of trials shows itself: means with their spread and as bars, all trials folded."""

from html import escape
from typing import Any

import pandas as pd

MOST = 40  # lines; a larger grid shows its first ones and says how many there are


class Trials(pd.DataFrame):  # type: ignore[misc]
    """The tidy table of :func:`compare`; whatever is taken from it is a plain DataFrame."""

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Mean, standard deviation and number of trials by measure, ε and method."""
        keys = ["measure", "epsilon", "method"]
        found = pd.DataFrame(self).groupby(keys)["value"]
        return found.agg(["mean", "std", "count"]).reset_index()

    def _repr_html_(self) -> str:
        found, left = self.summary(), " style='text-align:left'"
        top = found.groupby("measure")["mean"].transform(lambda m: m.abs().max()).replace(0, 1)
        rows = []
        for r, most in zip(found.head(MOST).itertuples(), top, strict=False):
            spread = "" if pd.isna(r.std) else f" ± {r.std:.3g}"
            width = 0.0 if pd.isna(r.mean) else abs(r.mean) / most
            rows.append(f"<tr><td{left}>{escape(str(r.measure))}</td><td>{r.epsilon}</td>"
                        f"<td{left}>{escape(str(r.method))}</td><td>{r.mean:.4g}{spread}</td>"
                        f"<td>{r.count}</td><td style='width:160px;min-width:100px'><div style='"
                        f"background:#e69f00;height:.8em;width:{width:.1%}'></div></td></tr>")
        heads = (f"<tr><th{left}>measure</th><th>ε</th><th{left}>method</th><th>mean ± sd</th>"
                 f"<th>trials</th><th{left}>mean, of the largest</th></tr>")
        more = (f"<p>… and {len(found) - MOST} more: <code>.summary()</code></p>"
                if len(found) > MOST else "")
        whole = pd.DataFrame(self).drop(columns=["key"]).head(200).to_html(index=False, border=0)
        return (f"<div style='overflow-x:auto'><table>{heads}{''.join(rows)}</table></div>{more}"
                f"<details><summary>All trials ({min(len(self), 200)} of {len(self)})</summary>"
                f"<div style='overflow-x:auto'>{whole}</div></details>")
