"""Learners that misbehave, in a module that child processes can import."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import sleep

from lacunet.estimate.deletion.forms import DirectMCAR
from lacunet.estimate.method import Learned, Method, Plan, Setting
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Scope
from lacunet.statistics.gather import Statistics
from studies.problems.learners import Learner


@dataclass(frozen=True)
class Odd(DirectMCAR):
    name = "odd"
    what: str = ""
    time_limit: float | None = None

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        if self.what == "dies":
            os._exit(3)
        if self.what == "stumbles":
            raise ZeroDivisionError("by nothing")
        if self.what == "sleeps":
            sleep(600)
        if self.what == "heeds":
            sleep(self.time_limit or 600)
        return super().estimate(plan, statistics, setting)


@dataclass(frozen=True)
class Dawdler(DirectMCAR):
    """A closed form: it has no option for a time limit."""

    name = "dawdler"

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        sleep(0.3)
        return super().estimate(plan, statistics, setting)


@dataclass(frozen=True)
class OddLearner(Learner):
    def build(
        self, limit: float | None, separator: Scope | None, graph: MissingnessGraph | None
    ) -> Method:
        del separator, graph
        return Dawdler() if self.method == "dawdles" else Odd(self.method, limit)


def odd(what: str) -> OddLearner:
    return OddLearner(what, what, what)
