"""Learners that misbehave, in a module that child processes can import."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import sleep
from typing import ClassVar

from lacunet.estimate.method import Learned, Method, Task
from lacunet.estimate.registry import method_named
from lacunet.experiments.runner.learners import Learner
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Scope


@dataclass(frozen=True)
class Odd:
    name: ClassVar[str] = "odd"
    what: str = ""
    time_limit: float | None = None

    def learn(self, task: Task) -> Learned:
        if self.what == "dies":
            os._exit(3)
        if self.what == "stumbles":
            raise ZeroDivisionError("by nothing")
        if self.what == "sleeps":
            sleep(600)
        if self.what == "heeds":
            sleep(self.time_limit or 600)
        return method_named("direct-mcar").learn(task)


@dataclass(frozen=True)
class Dawdler:
    """A closed form: it has no option for a time limit."""

    name: ClassVar[str] = "dawdler"

    def learn(self, task: Task) -> Learned:
        sleep(0.3)
        return method_named("direct-mcar").learn(task)


@dataclass(frozen=True)
class OddLearner(Learner):
    def build(
        self, limit: float | None, separator: Scope | None, graph: MissingnessGraph | None
    ) -> Method:
        del separator, graph
        return Dawdler() if self.method == "dawdles" else Odd(self.method, limit)


def odd(what: str) -> OddLearner:
    return OddLearner(what, what, what)
