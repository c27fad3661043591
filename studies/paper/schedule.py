"""All that the page on the paper shows, as studies in the order of their worth.

The order is one of priority: what the paper has a number for comes first, then more problems where
the numbers spread most. A run that is stopped early has a whole page, only of fewer problems.
Every part adds to the folder of its study, and what is there is not run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from studies.paper.studies import Study, study_named, with_settings
from studies.problems.learners import CLOSED_FORMS, learners_named

RESTARTS = ("em-10", "em-bp-10")
CLOSED = (*CLOSED_FORMS, "complete")
LARGEST = ("grid-90-20-1-like", "water")
SMALL = (100, 1_000, 10_000)
SHORT = (60.0, 300.0)
TENTHS = (6.0, 30.0, 60.0, 150.0, 300.0, 1_500.0)  # the paper's limits, and a tenth of each


def part(
    name: str,
    repetitions: int,
    fewer: Mapping[int, int] | None = None,
    *,
    sizes: tuple[int, ...] = (),
    methods: tuple[str, ...] = (),
    limits: tuple[float, ...] = (),
    networks: tuple[str, ...] = (),
    setting: str = "",
) -> Study:
    """A study of so many problems, ``fewer`` at some sizes; what is empty is as usual."""
    study = study_named(name)
    study = with_settings(study, [setting]) if setting else study
    return replace(
        study,
        repetitions=repetitions,
        repetitions_at=fewer or {},
        sizes=sizes or study.sizes,
        learners=learners_named(methods) if methods else study.learners,
        limits=limits or study.limits,
        networks=tuple(s for s in study.networks if not networks or s.name in networks),
    )


def large(
    repetitions: int,
    sizes: tuple[int, ...],
    methods: tuple[str, ...],
    limits: tuple[float, ...] = (),
    networks: tuple[str, ...] = (),
    setting: str = "",
) -> Study:
    """A part of the study of large networks."""
    return part(
        "table-large",
        repetitions,
        sizes=sizes,
        methods=methods,
        limits=limits,
        networks=networks,
        setting=setting,
    )


FEW, FEWER = {100_000: 4, 1_000_000: 2}, {100_000: 2, 1_000_000: 1}

SCHEDULE = (
    part("figure-fire-alarm", 16, {1_000_000: 4}),
    # Table 1 and the five of the appendix: two problems up to 10^4 rows, and what EM from random
    # starts has within 25 minutes in Table 1's setting, within five in the other.
    large(2, SMALL, (*CLOSED, "em")),
    large(1, (100, 1_000), RESTARTS, setting="second"),
    large(2, (100, 1_000), RESTARTS, SHORT),
    # The studies of Alarm, and those beside the paper.
    part("figure-alarm", 8, sizes=SMALL),
    part("table-mcar", 8, FEW),
    part("table-informed", 8, FEW),
    part("mnar", 16, {1_000_000: 4}),
    large(2, SMALL, ("auto",), TENTHS),
    large(1, (10_000,), RESTARTS, setting="second"),
    large(2, (10_000,), RESTARTS, SHORT),
    # 10^5 rows and above.
    large(2, (100_000,), CLOSED),
    large(2, (1_000_000,), CLOSED, networks=LARGEST),
    part("figure-alarm", 8, FEWER),
    large(1, (10_000_000,), CLOSED, (1_500.0,), ("water",), "first"),
    large(1, (100_000,), RESTARTS, networks=("water",), setting="second"),
    large(1, (100_000,), ("em", "auto")),
    part("early-stopping", 16, {1_000_000: 4}),
    # More problems where standard errors are widest.
    large(8, SMALL, (*CLOSED, "em")),
    large(8, SMALL, ("auto",), TENTHS),
    large(4, (100_000,), CLOSED),
    large(2, (100_000,), ("em", "auto"), SHORT),
    large(2, (100_000,), ("auto",), TENTHS),
    part("figure-alarm", 8, FEW),
    large(1, (1_000_000,), ("em", "auto"), SHORT, LARGEST),
    large(1, SMALL, RESTARTS, setting="first"),
    large(1, (100_000,), RESTARTS, networks=("water",), setting="first"),
    # As many as the paper has.
    part("figure-fire-alarm", 64, {1_000_000: 16}),
    part("table-mcar", 32, {100_000: 8, 1_000_000: 2}),
    part("table-informed", 32, {100_000: 8, 1_000_000: 2}),
    part("mnar", 32, {1_000_000: 8}),
    part("figure-alarm", 32, FEW),
    part("early-stopping", 64, {1_000_000: 8}),
)
