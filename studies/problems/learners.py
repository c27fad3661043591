"""Who takes part in an experiment: methods with their options, under the paper's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lacunet.learning.em.restarts import Visit
from lacunet.learning.plan import Method
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Scope
from studies.comparison.compare import timed_method
from studies.errors import StudyError


@dataclass(frozen=True)
class Learner:
    """A method with its options: ``name`` in keys, ``title`` at the head of a column.

    ``learns_from`` is "complete" for the yardstick that sees the rows before anything was
    hidden. ``needs`` is "separator" or "missingness" where the method must be told of how
    the values went missing. ``limit_decides`` if the limit not only stops the method but
    tells it what to do. ``is_anytime`` if one run keeps what it had at shorter limits.
    ``finds`` is "structure" where the network itself is learned, from the states alone; a
    ``method`` that is empty is known from print only. The paper has one pseudo-count
    per cell.
    """

    name: str
    title: str
    method: str
    options: tuple[tuple[str, Any], ...] = ()
    learns_from: str = "shown"
    needs: str = ""
    limit_decides: bool = False
    is_anytime: bool = False
    finds: str = "cpts"
    pseudo_counts: Any = 1.0

    def build(
        self,
        limit: float | None,
        separator: Scope | None,
        graph: MissingnessGraph | None,
        visit: Visit | None = None,
    ) -> Method:
        """The method for one learning problem, told its time limit if it can heed one.

        ``visit`` is called at each iteration of an anytime method.
        """
        options = dict(self.options)
        if self.needs == "separator":
            if separator is None:
                raise StudyError(f"{self.name} needs a separator, and none is known here.")
            options["groups"] = separator
        if self.needs == "missingness":
            options["missingness"] = graph
        method = timed_method(self.method, limit, **options)
        return replace(method, visit=visit) if self.is_anytime else method  # type: ignore[type-var]


Options = tuple[tuple[str, Any], ...]

# The authors' program ends EM after 80 iterations at the latest. Ours ends after 500.
AS_THE_AUTHORS: Options = (("max_iterations", 80), ("tolerance", 1e-4), ("accelerate", False))
FROM_FACTORED: Options = (("start", "factored-mar"),)
TO_THE_END: Options = (("max_iterations", 5_000), ("tolerance", 1e-7))


def _random(starts: int) -> Options:
    return (("start", "random"), ("restarts", starts))


LEARNERS = {
    one.name: one
    for one in (
        Learner("em-1", "EM-1", "em", _random(1), is_anytime=True),
        Learner("em-10", "EM-10", "em", _random(10), is_anytime=True),
        Learner("em-1-80", "EM-1/80", "em", (*_random(1), *AS_THE_AUTHORS)),
        Learner("em-10-80", "EM-10/80", "em", (*_random(10), *AS_THE_AUTHORS)),
        Learner("em-1-5000", "EM-1/5000", "em", (*_random(1), *TO_THE_END)),
        Learner("em-10-5000", "EM-10/5000", "em", (*_random(10), *TO_THE_END)),
        Learner("em-bp-10", "EM-BP", "em-bp", _random(10), is_anytime=True),
        Learner("listwise", "listwise", "listwise"),
        Learner("direct-mcar", "D-MCAR", "direct-mcar"),
        Learner("factored-mcar", "F-MCAR", "factored-mcar"),
        Learner("direct-mar", "D-MAR", "direct-mar"),
        Learner("factored-mar", "F-MAR", "factored-mar"),
        Learner("informed-direct", "ID-MAR", "informed-direct", needs="separator"),
        Learner("informed-factored", "IF-MAR", "informed-factored", needs="separator"),
        Learner("em", "F-MAR+EM", "em", FROM_FACTORED),
        Learner("em-80", "F-MAR+EM/80", "em", (*FROM_FACTORED, *AS_THE_AUTHORS, ("restarts", 1))),
        Learner("em-5000", "F-MAR+EM/5000", "em", (*FROM_FACTORED, *TO_THE_END)),
        Learner("em-bp", "F-MAR+EM-BP", "em-bp", FROM_FACTORED),
        Learner("auto", "auto", "auto", limit_decides=True),
        Learner("default", "default", "auto", limit_decides=True, pseudo_counts="learn"),
        Learner("mgraph", "mgraph", "mgraph", needs="missingness"),
        Learner("complete", "(complete)", "direct-mcar", learns_from="complete"),
    )
}

STRUCTURES = {
    one.name: one
    for one in (
        Learner("structure", "auto", "auto", finds="structure"),
        Learner("structure-complete", "(complete)", "auto", (), "complete", finds="structure"),
        Learner("closed-form", "closed form", "closed-form", finds="structure"),
        Learner("pyagrum-tabu", "pyAgrum tabu", "pyagrum-tabu", finds="structure"),
        Learner("pgmpy-hill-climbing", "pgmpy HC", "pgmpy-hill-climbing", finds="structure"),
        Learner("pgmpy-ges", "pgmpy GES", "pgmpy-ges", finds="structure"),
        Learner("causal-learn-ges", "causal-learn GES", "causal-learn-ges", finds="structure"),
        Learner("structural-em", "structural EM (bnlearn)", "", finds="structure"),
        Learner("nal", "NAL", "", finds="structure"),
    )
}
ALL = {"cpts": LEARNERS, "structure": STRUCTURES}
# Methods of earlier versions, of which there are published outcomes.
FORMER = {"one-step": "one-step", "em-heldout": "F-MAR+EM/held-out"}
TITLES = FORMER | {name: one.title for known in ALL.values() for name, one in known.items()}

CLOSED_FORMS = ("direct-mcar", "factored-mcar", "direct-mar", "factored-mar")
NEW = ("em", "auto", "complete")


def learners_named(names: Sequence[str], finds: str = "cpts") -> tuple[Learner, ...]:
    """The learners of these names, in this order."""
    known = {name: one for name, one in ALL[finds].items() if one.method}
    for name in names:
        if name not in known:
            raise StudyError(
                f"there is no method {name!r} here.", f"choose among {', '.join(known)}."
            )
    return tuple(known[name] for name in dict.fromkeys(names))


def is_yardstick(name: str) -> bool:
    """Whether a learner sees the rows before anything was hidden: it does not compete."""
    return any(name in known and known[name].learns_from == "complete" for known in ALL.values())
