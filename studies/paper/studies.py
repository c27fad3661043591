"""The paper's experiments by name, and `mnar` beside them.

Each is a value: networks, settings, sizes, repetitions, methods and limits, all of which can
be replaced. Cells go repetition by repetition, so that a run that is stopped early has a
whole table, only of fewer repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from lacunet.errors import LacunetError
from studies.errors import StudyError
from studies.problems.cells import Cell, Problem
from studies.problems.learners import CLOSED_FORMS, NEW, TITLES, Learner, learners_named
from studies.problems.settings import (
    ALARM_MCAR,
    EACH_THE_OTHER,
    EVERY_CELL,
    FIRST,
    IN_A_RING,
    INFORMED,
    INFORMED_SHOWN,
    MECHANISMS,
    ONE_BY_ONE,
    SECOND,
    Setting,
)
from studies.problems.sources import GRID, RANDOM, Source, source_in_file

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
FACTORED = ("factored-mcar", "factored-mar")
OF_STRUCTURES = ("shd", "f1", "skeleton_errors", "seconds")


@dataclass(frozen=True)
class Study:
    """An experiment.

    ``repetitions_at`` overrides ``repetitions`` for single sizes. ``measures`` are what its
    tables show, in their order; ``drawn`` are the methods in its figures, at most seven;
    ``anchor`` is where the paper has it. ``titles`` are the paper's names for methods that have
    another one elsewhere.
    """

    name: str
    title: str
    anchor: str
    networks: tuple[Source, ...]
    settings: tuple[Setting, ...]
    sizes: tuple[int, ...]
    repetitions: int
    learners: tuple[Learner, ...]
    limits: tuple[float | None, ...]
    measures: tuple[str, ...]
    drawn: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    repetitions_at: Mapping[int, int] = field(default_factory=dict)
    test_rows: int = 100_000
    seed: int = 0

    def title_of(self, method: str) -> str:
        """What a method is called in the tables and figures of this study."""
        return self.titles.get(method, TITLES[method])

    @property
    def finds(self) -> str:
        """What its learners find: "cpts", or the "structure" too."""
        return self.learners[0].finds

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, repetition by repetition, small sizes first."""
        return tuple(
            Cell(problem, learner, limit)
            for problem in self.problems
            for limit in self.limits
            for learner in self.learners
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All learning problems; settings made for one network meet only that one."""
        most = max([self.repetitions, *self.repetitions_at.values()])
        judge = "divergence" in self.measures
        return tuple(
            Problem(source, setting, rows, repetition, self.seed, self.test_rows, judge)
            for repetition in range(most)
            for rows, source, setting in product(self.sizes, self.networks, self.settings)
            if repetition < self.repetitions_at.get(rows, self.repetitions)
            and setting.suits(source.name)
        )


def study_named(name: str, *, quick: bool = False) -> Study:
    """A study by its name, at the paper's scale or at one of a minute or two."""
    if name not in STUDIES:
        raise StudyError(
            f"there is no experiment {name!r}.", f"choose one of {', '.join(STUDIES)}."
        )
    return replace(STUDIES[name], **QUICK[name]) if quick else STUDIES[name]


def with_grid(study: Study, path: str) -> Study:
    """The study with the grid network from a file instead of one made by the same recipe."""
    grid = source_in_file(path, GRID)
    networks = tuple(grid if one.name.startswith(GRID) else one for one in study.networks)
    return replace(study, networks=networks)


def with_settings(study: Study, names: Sequence[str]) -> Study:
    """The study in some of its settings only."""
    known = {setting.name: setting for setting in study.settings}
    for name in names:
        if name not in known:
            raise StudyError(
                f"this experiment has no setting {name!r}.", f"choose among {', '.join(known)}."
            )
    return replace(study, settings=tuple(known[name] for name in names))


def checked(study: Study) -> Study:
    """The study, if there is something to run and all its problems can be drawn."""
    if not study.cells:
        raise StudyError(
            "there is nothing to run: no network, setting, size, repetition or method is left."
        )
    for problem in {(p.source, p.setting): p for p in study.problems}.values():
        try:
            problem.draw_mechanisms()
        except LacunetError as error:
            raise StudyError(
                f"the setting {problem.setting.name!r} does not suit the network "
                f"{problem.source.name!r}: {error.message}",
                "name another network with --networks, or other settings with --settings "
                f"(here: {', '.join(setting.name for setting in study.settings)}).",
            ) from None
    return study


def titled(study: Study) -> Study:
    """The study with its networks in the title, where that does not name them."""
    unnamed = [
        one.name
        for one in study.networks
        if one.name.replace("-", " ").lower() not in study.title.lower()
    ]
    here = ", ".join(unnamed)
    return replace(study, title=f"{study.title} (here: {here})") if unnamed else study


STUDIES = {
    study.name: study
    for study in (
        Study(
            "table-mcar",
            "Alarm network with MCAR data",
            "appendix, Table 'Alarm network with MCAR data' and the figure after it",
            (Source("alarm"),),
            (ALARM_MCAR,),
            SIZES,
            32,
            learners_named(("em-1", "em-10", *CLOSED_FORMS, *NEW)),
            (300.0,),
            ("seconds", "log_likelihood", "divergence"),
            drawn=("em-1", *CLOSED_FORMS, "auto", "complete"),
        ),
        Study(
            "figure-fire-alarm",
            "KL divergence, Fire Alarm network with MAR data",
            "Figure 'KL Divergence - Fire Alarm'",
            (Source("fire-alarm"),),
            (FIRST,),
            (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000),
            64,
            learners_named(("em-1", "em-10", *CLOSED_FORMS, *NEW)),
            (600.0,),
            ("divergence",),
            drawn=("em-1", "em-10", "em", *CLOSED_FORMS),
            test_rows=10_000,
        ),
        Study(
            "early-stopping",
            "When EM is stopped too early, Fire Alarm network with MAR data",
            "Figure 'KL Divergence - Fire Alarm': where EM-10-JT 'stops converging'",
            (Source("fire-alarm"),),
            (FIRST,),
            (1_000, 10_000, 100_000, 1_000_000),
            64,
            learners_named(
                [
                    f"{start}{end}"
                    for start in ("em-1", "em-10", "em")
                    for end in ("-80", "", "-5000")
                ]
            ),
            (600.0,),
            ("divergence", "seconds"),
            drawn=("em-1-80", "em-1-5000", "em-10-80", "em-10-5000", "em-80", "em-5000"),
            test_rows=1_000,
        ),
        Study(
            "figure-alarm",
            "Likelihood against size and time, Alarm network with MAR data",
            "Figures 'Likelihood vs. Size - Alarm' and 'Likelihood vs. Time - Alarm'",
            (Source("alarm"),),
            (SECOND,),
            SIZES,
            32,
            learners_named(("em-1", "em-10", *CLOSED_FORMS, *NEW)),
            (600.0,),
            ("log_likelihood", "divergence", "seconds"),
            drawn=("em-1", "em-10", "em", *CLOSED_FORMS),
        ),
        Study(
            "table-large",
            "Log-likelihoods of large networks learned from MAR data",
            "Table 1 (25 minutes, second setting) and the five tables of the appendix",
            (Source(f"{GRID}-like"), Source("water"), Source("munin1"), Source("barley")),
            (FIRST, SECOND),
            (100, 1_000, 10_000, 100_000),
            1,
            learners_named(("em-10", "em-bp-10", *CLOSED_FORMS, "em", "auto", "complete")),
            (60.0, 300.0, 1_500.0),
            ("log_likelihood", "seconds"),
            titles={"em-10": "EM-JT"},
            test_rows=20_000,
        ),
        Study(
            "table-informed",
            "Alarm network with informed MAR data",
            "appendix, Table 'Alarm network with Informed MAR data'",
            (Source("alarm"),),
            (INFORMED, INFORMED_SHOWN),
            SIZES,
            32,
            learners_named((*CLOSED_FORMS, "informed-direct", "informed-factored", *NEW)),
            (300.0,),
            ("divergence", "log_likelihood"),
            drawn=(*FACTORED, "direct-mar", "informed-direct", "informed-factored", "em"),
        ),
        Study(
            "mnar",
            "KL divergence from data missing not at random",
            "appendix, section 'Missing Not at Random (MNAR) Data'",
            (Source("pair"), Source("fire-alarm"), Source("sachs")),
            (EACH_THE_OTHER, IN_A_RING, ONE_BY_ONE),
            SIZES,
            32,
            learners_named(("mgraph", "em", "auto", "direct-mcar", "factored-mar", "complete")),
            (300.0,),
            ("divergence",),
            drawn=("mgraph", "em", "direct-mcar", "factored-mar", "complete"),
        ),
        Study(
            "structure-mcar",
            "Structure of Alarm from MCAR data",
            "W. Bodewes and M. Scutari, 'Learning Bayesian networks from incomplete data with the "
            "node-average likelihood' (2021)",
            (Source("alarm"),),
            EVERY_CELL,
            (5_090, 25_450),
            20,
            learners_named(("structure", "closed-form", "structure-complete"), "structure"),
            (600.0,),
            OF_STRUCTURES,
            test_rows=1,
        ),
        Study(
            "structure-mechanisms",
            "Structure of random networks from MCAR, MAR and MNAR data",
            "Y. Liu and A. C. Constantinou, 'Greedy structure learning from data that contain "
            "systematic missing values' (2022): F1 of their best method, HC-aIPW, .52 to .54 at "
            "10^4 rows, of hill climbing on complete rows .57",
            (Source(RANDOM),),
            MECHANISMS,
            (1_000, 10_000),
            30,
            learners_named(("structure", "closed-form", "structure-complete"), "structure"),
            (600.0,),
            OF_STRUCTURES,
            test_rows=1,
        ),
        Study(
            "structure-paper",
            "Structure of Alarm from the data of the paper's experiments",
            "the paper leaves structure to future work: its settings of missing values",
            (Source("alarm"),),
            (ALARM_MCAR, FIRST, SECOND, INFORMED),
            (1_000, 10_000),
            8,
            learners_named(("structure", "closed-form", "structure-complete"), "structure"),
            (600.0,),
            OF_STRUCTURES,
            test_rows=1,
        ),
    )
}

QUICK: dict[str, dict[str, Any]] = {
    "table-mcar": {"sizes": (100, 1_000, 10_000), "repetitions": 3, "test_rows": 10_000},
    "figure-fire-alarm": {"sizes": (100, 1_000, 10_000, 100_000), "repetitions": 8},
    "early-stopping": {"sizes": (1_000, 10_000), "repetitions": 8},
    "figure-alarm": {"sizes": (100, 1_000), "repetitions": 2, "limits": (10.0,)},
    "table-large": {
        "networks": (Source("water"),),
        "sizes": (100, 1_000),
        "limits": (2.0, 10.0),
        "test_rows": 10_000,
    },
    "table-informed": {"sizes": (100, 1_000, 10_000), "repetitions": 4, "test_rows": 10_000},
    "mnar": {"sizes": (1_000, 10_000, 100_000), "repetitions": 8},
    "structure-mcar": {"sizes": (5_090,), "repetitions": 2},
    "structure-mechanisms": {"sizes": (1_000,), "repetitions": 3},
    "structure-paper": {"sizes": (1_000,), "repetitions": 2},
}
