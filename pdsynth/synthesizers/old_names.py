"""Parameters that had other names, and what they are called now."""

from collections.abc import Iterable

RENAMED = {
    "beta": "share_structure",
    "usefulness": "theta_usefulness",
    "sketch": "share_sketch",
    "L0": "share_sketch (HMPrivBayes: share_histograms)",
    "L2": "share_structure",
    "L1": "share_structure (HMPrivBayes, PrivSCBN: share_sketch)",
    "direction": "personal=SensitivityGroups(rare_values=…)",
    "groups": "personal=SensitivityGroups(groups=…)",
    "weights": "personal=SensitivityGroups(weights=…)",
    "v_min": "personal=SensitivityGroups(v_min=…)",
    "theta_tvd": "personal=SensitivityGroups(theta_tvd=…)",
}


def refuse_old_names(synthesizer: str, unknown: Iterable[str]) -> None:
    """Raise TypeError with the new name where an unknown parameter is an old one."""
    for name in unknown:
        if name in RENAMED:
            raise TypeError(f"{synthesizer} has no parameter {name!r}: it is {RENAMED[name]} now")
