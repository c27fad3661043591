"""Questions that were not asked of all: which rows tell why cells are empty, and what that means.

What was not asked counts as shown, but only where a row shows what the rule looks at. By the rule
alone, then, mechanisms seem to depend on values, though nobody hides any:

- A question is never missing where its rule is seen to hold, and always where it holds unseen. So
  only rows in which the rule is seen to fail tell what the mechanism depends on.
- No row that shows "not asked" misses what the rule looks at. So that state says nothing of the
  mechanisms of these variables.

Still, where a row misses what the rule looks at, an empty cell is likelier to be one that was not
asked. Learning without a missingness graph takes no account of that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from lacunet.data.skipped_questions import skips_of
from lacunet.data.table import Codes, EncodedTable
from lacunet.network.network import Network


def rows_that_tell(network: Network, table: EncodedTable, name: str) -> EncodedTable:
    """The rows that tell what the mechanism of a variable depends on.

    The state of questions that were not asked by that variable is missing there. It is the table
    itself if no rule has to do with the variable.

    Examples
    --------
    >>> rule = {"Now": "Smoked=no"}
    >>> states = {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]}
    >>> network = Network(states, {"Now": ["Smoked"]}, not_asked=rule)
    >>> codes = {"Smoked": np.array([0, 1, 1, 2, 2]), "Now": np.array([2, 1, 3, 1, 3])}
    >>> table = EncodedTable({"Smoked": 2, "Now": 3}, codes)
    >>> rows_that_tell(network, table, "Now").columns["Now"].tolist()
    [1, 3]
    >>> rows_that_tell(network, table, "Smoked").columns["Now"].tolist()
    [3, 1, 3, 1, 3]
    """
    columns: dict[str, Codes] = {}
    for other, rule in network.not_asked_of.items():
        _, *looked_at = network.with_rule_variables((other,))
        if name in looked_at:
            codes, missing = table.columns[other], table.cardinality_of[other]
            is_skip = codes == network.state_index(other, rule.state)
            columns[other] = np.where(is_skip, codes.dtype.type(missing), codes)
    matching = [skips for skips in skips_of(network, table.sets_of) if skips.name == name]
    if columns:
        table = table.with_columns(table.cardinality_of, {**table.columns, **columns})
    return table.take(matching[0].fails(table.columns)) if matching else table


def notes_on_rules(
    network: Network, partially: Collection[str], allowed_for: Collection[str] = ()
) -> Iterator[str]:
    """What to know, without a graph, where rows miss both a question and whether it was asked.

    Not of variables whose rule is ``allowed_for``.
    """
    for name in (n for n in partially if n in network.not_asked_of.keys() - {*allowed_for}):
        _, *causes = network.with_rule_variables((name,))
        if unseen := [other for other in partially if other in causes]:
            what = ", ".join(unseen)
            yield (
                f"where rows miss {what}, it is not known whether {name} was asked. An "
                "empty cell is likelier if it was not, so it is not missing at random, and what is "
                "learned without a missingness graph may be biased. EM on a graph allows for it: "
                "method='em', missingness=lacunet.learn_missingness(data, network) (lacunet "
                "diagnose --missingness-out FILE)."
            )
