"""Tables without noise, which agree already."""

from ..baselines import AgreeInPairs
from ..core import Agree


class ExactAgree(Agree):
    """Exact tables of the network's own pairs stay as they are.

    **Privacy:** none.
    """

    exact = True


class ExactAgreeInPairs(AgreeInPairs):
    """As :class:`ExactAgree`.

    **Privacy:** none.
    """

    exact = True
