"""What can't be in a record, by public knowledge; tables in which all records meet a condition.

``Schema(attributes, rules=[Rule.at_most("start", "end")])`` declares rules between columns. They
are public, read no record and cost no ε. A schema with rules asks this house for their masks over
codes; everything else in the core sees these masks alone. ``model.sample(where={"sex": "F"})``
asks it for a model given the condition; a model whose schema has rules is conditioned by them.
"""

from .conditions import Given, check_rules, given
from .rules import Rule, combine, keep_rules, possible_cells, possible_in, put_in_order
