"""Learners that misbehave, in a module that child processes can import."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import process_time
from typing import Any

from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.em.restarts import Visit
from lacunet.learning.plan import Learned, Method
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Scope
from studies.problems.learners import Learner


@dataclass(frozen=True)
class Odd(Deletion):
    what: str = ""
    time_limit: float | None = None

    def solve(self, *given: Any) -> Learned:
        if self.what == "dies":
            os._exit(3)
        if self.what == "stumbles":
            raise ZeroDivisionError("by nothing")
        if self.what == "overruns":
            work_for(600)
        if self.what == "heeds":
            work_for(self.time_limit or 600)
        return super().solve(*given)


@dataclass(frozen=True)
class Dawdler(Deletion):
    """A closed form: it has no option for a time limit."""

    def solve(self, *given: Any) -> Learned:
        work_for(0.3)
        return super().solve(*given)


@dataclass(frozen=True)
class OddLearner(Learner):
    def build(
        self,
        limit: float | None,
        separator: Scope | None,
        graph: MissingnessGraph | None,
        visit: Visit | None = None,
    ) -> Method:
        del separator, graph, visit
        if self.method == "dawdles":
            return Dawdler("direct", groups=None)
        return Odd("direct", groups=None, what=self.method, time_limit=limit)


def work_for(seconds: float) -> None:
    """Keep the processor busy: time limits count nothing else."""
    until = process_time() + seconds
    while process_time() < until:
        pass


def odd(what: str) -> OddLearner:
    return OddLearner(what, what, what)
