"""Papers that are parts only: what each combines, and what it truly costs."""

from dataclasses import dataclass, replace
from typing import ClassVar

from ..budgets import Geometric, Groups, SensitivityGroups, Uniform
from ..domain.facts import Facts
from ..structure.greedy import Greedy
from ..structure.learner import Fixed
from ..structure.ordered import Ordered
from ..structure.pairwise import PairwiseSums
from ..structure.restrictions import Restriction
from ..structure.tree import SpanningTree
from .recipe import Parts, Recipe


@dataclass(eq=False, repr=False, kw_only=True)
class Preset(Recipe):
    """A network learnt with a share of ε, then one noisy table per attribute.

    ``k``: largest number of parents; ``"auto"`` chooses from public facts. ``share_structure``: β,
    the share of ε for the structure (TODS recommends 0.3, the thesis has 1/2).
    ``theta_usefulness``: θ of TODS: a table's mean cell must be at least this many times its noise
    scale.

    **Privacy:** what the subclass says.
    """

    k: int | str = "auto"
    share_structure: float = 0.3
    theta_usefulness: float = 4


@dataclass(eq=False, repr=False, kw_only=True)
class PrivBayes(Preset):
    """PrivBayes: a greedy network by the exponential mechanism (thesis, Algorithms 1 and 2).

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer, see
        :class:`~pdsynth.synthesizers.recipe.Recipe`.
    k, share_structure, theta_usefulness : as :class:`Preset` says.
    score : ``"I"`` mutual information, ``"R"`` distance from independence, ``"F"`` (binary tables);
        ``"auto"``: R under strict.
    reading : ``"tods"``; ``"thesis"``: Algorithm 2 to the letter (half the noise, 1.5 ε in all),
        which strict refuses.
    restriction : edges that the network must or may not have, by public policy; then all d tables
        are measured.

    Ambiguities and how they are resolved (`algorithms` §2.2)
    ---------------------------------------------------------
    1. Algorithm 2 has Lap(2(d−k)/(nε)) for a step with ε/2: its ε is read as ε₂.
    2. |Π| ≤ k is read as exactly min(k, i−1), without which the first k conditionals can't be
       derived; general domains under ``k="auto"`` use maximal sets and pay for all d tables.
    3. Equation (5) is read as the product of Pr[X_i | Π_i]; Var of Lap(λ) is 2λ², not 2λ.
    4. All information is in bits.
    5. The largest useful k is taken (the public MATLAB code returns the first that isn't), with ε₂
       and the true domain.

    **Privacy:** strict: pure ε-DP under replacing one record: d−1 exponential mechanisms of
    ε₁/(d−1) and d−k (or d) discrete Laplace tables, sequentially.

    >>> PrivBayes(epsilon=0.5, k=2)
    PrivBayes(epsilon=0.5, k=2, guarantee='strict')
    """

    score: str = "auto"
    reading: str = "tods"
    restriction: Restriction | None = None

    def _parts(self, facts: Facts) -> Parts:
        structure = Greedy(self.k, self.theta_usefulness, self.score, self.restriction)
        return Parts(structure, Uniform("thesis Alg 2 line 4", self.reading))


@dataclass(eq=False, repr=False, kw_only=True)
class Independent(Recipe):
    """Attributes drawn independently, each from its own noisy histogram: the floor to beat.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer.

    **Privacy:** strict: pure ε-DP under replacing one record: d histograms with discrete Laplace
    noise of scale 2d/ε, sequentially; under adding or removing one: a count of scale 20/ε and
    histograms of scale 20d/19ε.

    >>> Independent(epsilon=0.5)
    Independent(epsilon=0.5, guarantee='strict')
    """

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Fixed(), Uniform("one-way Laplace histograms (Dwork et al. 2006)"))


@dataclass(eq=False, repr=False, kw_only=True)
class PPBA(Preset):
    """PPBA, a reconstruction: a tree shrinks the candidates, budgets follow weights in ratio q.

    From the abstract (Ma et al. 2021): a maximum spanning tree and node weights shrink the
    candidate space of the exponential mechanism; dynamic node weights rank the sensitivity of the
    tables; a constant ratio q sets the Laplace noise over the ranks. Everything else is a
    reconstruction: the association, the root (largest row sum), that a pair contains its tree
    neighbour, the weight of a node (sum of its associations with its parents at its entry), a
    geometric split over all d tables.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    q : budget of a table against the one ranked before it. q > 1: tables of strongly tied
        attributes get less budget and more noise ("security"); q < 1: they get more
        ("availability"); 1: equal shares.
    share_sketch : share of the structure's ε for the associations (strict).

    **Privacy:** strict: pure ε-DP under replacing one record: one sketch of all pairs, from which
    tree, root, weights and ranking follow; d−1 exponential mechanisms; d discrete Laplace tables.

    >>> PPBA(q=1.2)
    PPBA(epsilon=1.0, q=1.2, guarantee='strict')
    """

    q: float = 1.1
    share_sketch: float = 0.5

    def _parts(self, facts: Facts) -> Parts:
        tree = SpanningTree(self.k, self.theta_usefulness, share_sketch=self.share_sketch)
        return Parts(tree, Geometric(q=self.q))


@dataclass(eq=False, repr=False, kw_only=True)
class CSAPrivBayes(Preset):
    """CSAPrivBayes, a reconstruction (Chen 2021): PrivBayes with two groups of their own budgets.

    The root is the attribute with the largest domain. The recommended first form of
    personalisation: HPPrivBayes without its order and its value weights.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive, theta, r, personal : as in HPPrivBayes, but all values of an attribute get the same
        noise; groups by policy cost nothing.
    share_sketch : share of the tables' ε for the associations where groups aren't policy (strict).

    Attributes
    ----------
    groups_, association_, weights_ : as in HPPrivBayes.

    **Privacy:** strict: pure ε-DP under replacing one record: d−1 exponential mechanisms, d−1 noisy
    associations unless the groups are policy, d discrete Laplace tables.

    >>> CSAPrivBayes(sensitive="occupation")
    CSAPrivBayes(epsilon=1.0, sensitive='occupation', guarantee='strict')
    """

    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_sketch: float = 0.05
    same: ClassVar[SensitivityGroups] = SensitivityGroups(rare_values="same_noise")

    def _parts(self, facts: Facts) -> Parts:
        personal = self.same if self.personal is None else self.personal
        if isinstance(personal, SensitivityGroups):
            personal = replace(personal, rare_values="same_noise")
        groups = Groups(self.sensitive, self.theta, self.r, personal, self.share_sketch)
        return Parts(Greedy(self.k, self.theta_usefulness, root="largest"), groups)


@dataclass(eq=False, repr=False, kw_only=True)
class ELPrivBayes(Preset):
    """ELPrivBayes (Lu 2023/24): one matrix of mutual information gives order and parent sets.

    The score of a parent set is the sum over its pairs. Where the abstract is silent the formulas
    are those of public code (label: reconstruction). Parameters as in PrivBayes.

    **Privacy:** strict: pure ε-DP under replacing one record: one noisy sketch of all pairs (βε),
    everything else about the structure is post-processing; d discrete Laplace tables.

    >>> ELPrivBayes(epsilon=0.5)
    ELPrivBayes(epsilon=0.5, guarantee='strict')
    """

    def _parts(self, facts: Facts) -> Parts:
        return Parts(PairwiseSums(self.k, self.theta_usefulness), Uniform())


@dataclass(eq=False, repr=False, kw_only=True)
class SAPrivBayes(Preset):
    """SA-PrivBayes (Future Internet 18(2) 103): ELPrivBayes' best candidate sets, budgets by class.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes;
        the public code has k = 2 and β = 0.3.
    q : budget of a class of tables against the class ranked before it; ranked by the score that
        chose them, three classes.
    keep : share of the candidate sets that stay before a selection. Strict takes the best set of
        the noisy sketch for free, where a filter changes nothing.

    **Privacy:** strict: pure ε-DP under replacing one record, as ELPrivBayes; classes come from the
    noisy sketch.

    >>> SAPrivBayes(q=1.2)
    SAPrivBayes(epsilon=1.0, q=1.2, guarantee='strict')
    """

    q: float = 1.1
    keep: float = 2 / 3

    def _parts(self, facts: Facts) -> Parts:
        sums = PairwiseSums(self.k, self.theta_usefulness, keep=self.keep)
        return Parts(sums, Geometric(q=self.q, classes=3))


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedPrivBayes(Preset):
    """Weighted PrivBayes, a reconstruction (Wang 2016): attributes enter by weight, their entropy.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    share_sketch : share of the structure's ε for the histograms that the weights come from
        (strict).

    Attributes
    ----------
    order_, average_association_ : the attributes in their order, and the entropies that made it.

    **Privacy:** strict: pure ε-DP under replacing one record: d noisy histograms, d−1 exponential
    mechanisms, discrete Laplace tables.

    >>> WeightedPrivBayes(k=2)
    WeightedPrivBayes(epsilon=1.0, k=2, guarantee='strict')
    """

    share_sketch: float = 0.15

    def _parts(self, facts: Facts) -> Parts:
        ordered = Ordered(
            self.k, self.theta_usefulness, by="entropy", share_sketch=self.share_sketch
        )
        return Parts(ordered, Uniform())
