"""The road of a record, room by room; README.md walks it.

These are the names that other houses use.
"""

from .agreement import Agree, AgreeByDefault, NoisyTable, fit_tables, integer_weights
from .attribute import DTYPES, Attribute, find_bins, place_in_bins, repeated
from .budgets import (
    Allocation,
    AsMeasured,
    BudgetRule,
    Conditionals,
    JointCounts,
    Parts,
    Table,
    Uniform,
    by_weight,
    measure_joint_counts,
    proportional,
    uniform,
)
from .curator import Curator, Measured, Pairs, split_pairs
from .errors import (
    BudgetDegenerate,
    BudgetError,
    PrivacyError,
    SchemaError,
    as_fraction,
    bar,
    check_known,
    check_path,
    check_seed,
    is_one_of,
    is_whole,
    name_some,
    needed_for,
    number,
    plural,
    positive,
    progress,
    share,
    show,
    tell,
    to_items,
    to_list,
    to_names,
    type_of,
    wanted,
    warn,
)
from .factors import (
    NEVER,
    CliqueTree,
    Columns,
    Distribution,
    Edge,
    JunctionTree,
    Place,
    eliminate,
    junction_tree,
    maximum_spanning_tree,
    neighbours,
    spanning_tree,
)
from .ledger import Ledger, compose
from .measures import (
    GRID,
    SCORES,
    CountLogs,
    association,
    association_sensitivity,
    conditional_sensitivity,
    entropy,
    entropy_sensitivity,
    marginalise,
    mutual_information,
    mutual_information_sensitivity,
    normalised_risk_entropy,
    total_variation,
    tvd_from_independence,
    tvd_sensitivity,
)
from .model import Model, conditional, encoding_of, keep_measured, shapes_of
from .network import Candidates, Network, Permitted, Restriction, check_edge
from .noise import (
    ExactNoise,
    Noise,
    Quantity,
    Shape,
    as_scales,
    exponential_mechanism,
    laplace_mechanism,
    stream_of,
    zero_sum_mechanism,
)
from .recipe import MOST_RECORDS, Recipe, check_records
from .records import (
    MAX_CELLS,
    MAX_MEMBERS,
    Codes,
    Counter,
    Lattice,
    Records,
    Split,
    count_cells,
    marginal,
)
from .rules import COUNTING, KINDS, LEMMAS, MECHANISMS, NOISES, Check, check_selection
from .schema import Facts, Mask, Schema, check_columns, check_schema
from .structure import (
    ALL_PAIRS,
    AUTO_CELLS,
    MAX_PAIRS,
    NOISE_DOMINATES,
    USEFUL,
    Fixed,
    Learner,
    MaxCells,
    MaxParents,
    Measurement,
    Pair,
    ParentRule,
    Shares,
    Structure,
    StructureResult,
    check_degree,
    check_width,
    describe_facts,
    join_pairs,
    largest_selection,
    list_candidates,
    noise_dominates,
    noise_to_cell,
    typical_cells,
)
from .unit import NEIGHBOURS, Entry, Scale, TableBudget, Unit, add_up, histogram_cost, tight_scales
from .views import BinaryEncoding, Encoding, Merging
