"""What the room of missingness refuses."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from lacunet.errors import LacunetError
from lacunet.network.nodes import Mechanism
from lacunet.text import did_you_mean, first_of, listed

RECORDED = r"(?:is[_. ]?)?(?:missing|miss|observed|recorded|shown|response|resp|na|m|r)"


class MissingnessGraphError(LacunetError):
    """What is given is not a missingness graph over the network, or does not fit the data."""

    @classmethod
    def unknown_variable(
        cls, name: str, known: Collection[str], where: str = ""
    ) -> MissingnessGraphError:
        """Name what may have been meant: a variable, or a mechanism written in another way."""
        hint = did_you_mean(name, known) or f"its variables are {first_of(list(known), 10)}."
        before = rf"(?i:{RECORDED})[_. (]+(.+?)\)?"
        after = rf"(.+?)[_. ]+(?i:{RECORDED})"
        meant = re.fullmatch(f"{before}|{after}|R(.+)", name)  # R_X, X_missing, RX
        if meant and (variable := meant[1] or meant[2] or meant[3]) in known:
            hint = f"did you mean {Mechanism(variable)}?"
        return cls(f"{where}the network has no variable {name!r}.", hint)


class AgainstGraphError(MissingnessGraphError):
    """Rows contradict what the graph says of its mechanisms."""


class NotRecoverableError(LacunetError):
    """An estimate is asked for that the missingness graph does not give."""


class NoRowsError(NotRecoverableError):
    """A query is recoverable, but no row shows what its estimand needs."""


class TooLargeEstimandError(NotRecoverableError):
    """A query is recoverable, but its estimand is too large to compute."""


class SeparatorError(LacunetError):
    """No set of always observed variables separates a family from its mechanisms."""


def without_mechanism(variables: Sequence[str]) -> MissingnessGraphError:
    """Refuse missing values that the graph does not explain."""
    bare = "; ".join(str(Mechanism(name)) for name in variables)
    return MissingnessGraphError(
        f"the data have missing values of {listed(variables)}, but the missingness graph "
        "has no mechanism for them.",
        f"say why they go missing, or add {bare} for what is missing completely at random.",
    )
