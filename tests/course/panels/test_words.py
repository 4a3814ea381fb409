"""What panels say in words."""

from fractions import Fraction as Q

from pdsynth.course.panels.words import ledger_summary
from pdsynth.privacy.ledger import Ledger


def test_the_summary_claims_parallel_parts_once_and_counts_them_all():
    ledger = Ledger(Q(1), "published")
    group = ledger.write("group", "clusters", compose="parallel", claimed=Q(1))
    for part in ("columns:C1", "columns:C2"):
        for step in (f"root in {part[8:]}", f"pair 2 of 3 in {part[8:]}"):
            ledger.write(
                "mechanism",
                step,
                source="Alg 4 line 2",
                claimed=Q(1, 4),
                epsilon=Q(1, 4),
                parent=group.id,
                record_filter=part,
            )
    text = ledger_summary(ledger)
    assert "roots and parent sets, Alg 4</td><td>4</td><td>0.5000</td><td>1.0000</td>" in text
    assert "color:#d55e00" in text.split("roots and parent sets")[0].rsplit("<tr", 1)[1]
