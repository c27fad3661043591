"""What a sensitivity analysis says in words, below its table."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING

from lacunet.ask.sensitivity.tilt import FLAT, Question, TiltedShares
from lacunet.ask.sensitivity.tilted_em import TiltedModel, TiltedRows
from lacunet.counts.distinct_rows import Rows
from lacunet.data.read import note_on_sets
from lacunet.missingness.graph import MissingnessGraph
from lacunet.text import assigned, interval_in_words, sentence

if TYPE_CHECKING:
    from lacunet.ask.sensitivity.sensitivity import Sensitivity

AS_GOOD = 1.92  # nats below the best: not refuted at 5%


def on_no_tilt(result: Sensitivity, graph: MissingnessGraph | None) -> str:
    """The answer without a tilt."""
    assumption = "the missingness graph holds"
    if graph is None:
        assumption = "values are missing at random"
    answer = f"{result.question} is {result.answers[result.deltas.index(0.0)]:.3g}"
    return f"If {assumption}, {answer}."


def on_answer(result: Sensitivity, shares: TiltedShares, named: bool) -> Iterator[str]:
    """How far tilts move the answer; by EM a prior has odds where rows have none.

    ``named`` says that the user gave the threshold.
    """
    low = result.answers.min()
    high = result.answers.max()
    is_flat = high - low < FLAT
    what = result.question.mechanism
    state = result.question.tilted_state
    bounds = "lacunet.worst_case gives bounds that assume nothing."
    limit = f"{result.threshold:.3g}"
    if not named:
        limit += f" (an end of its {interval_in_words(0.95)} at delta 0)"
    if is_flat and shares.unmoved == 1:
        yield (
            f"A tilt cannot say more: of the shown values of {what} that hidden ones are compared "
            f"with, none or all are {state}, and odds of zero stay zero. {bounds}"
        )
        return
    if result.tipping_point is None:
        yield (
            f"No tilt of the hidden values of {what} takes the answer to {limit}: it stays between "
            f"{low:.3g} and {high:.3g}."
        )
    else:
        times = exp(result.tipping_point)
        ratio = f"{times:.3g} times" if times >= 1 else f"1/{1 / times:.3g} of"
        yield (
            f"The answer would cross {limit} if the odds of a hidden {assigned(what, state)} were "
            f"{ratio} those of a shown one; over these tilts it lies between {low:.3g} and "
            f"{high:.3g}."
        )
    if shares.unmoved and (result.method != "em" or is_flat):
        yield (
            f"No tilt moves {shares.unmoved:.1%} of the hidden values of {what}: of the shown ones "
            f"that they are compared with, none or all are {state}. {bounds}"
        )


def on_rows(
    result: Sensitivity,
    tilted: TiltedShares | TiltedRows,
    shares: TiltedShares,
    rows: Rows,
    bare: float | None,
) -> Iterator[str]:
    """What the answer lacks; ``bare`` is the share of CPT rows without data, None but for EM."""
    if tilted.lost > 0:
        yield f"Nothing is known about {tilted.lost:.1%} of the rows: left out."
    if bare:
        yield f"{bare:.1%} of the answer rests on CPT rows without data."
    if bare is not None:
        return
    variables = result.question.variables
    mechanism = result.question.mechanism
    table = rows.table
    if shares.pooled > 0:
        yield (
            f"{shares.pooled:.1%} of the rows that the answer is about are in groups of which no "
            f"row shows {', '.join(variables)}: rows of other groups stand for them."
        )
    if others := [v for v in variables if v != mechanism and table.missing_of[v]]:
        yield (
            f"Of rows that hide one of {', '.join([mechanism, *others])}, what they show of the "
            "others is not used: answers may lie outside of those of worst_case. method='em' uses "
            "it (--method em)."
        )
    if table.cells_of_sets:  # EM takes them as they are
        yield sentence(note_on_sets(table.cells_of_sets))


def on_dropout(question: Question, model: TiltedModel, rows: Rows) -> Iterator[str]:
    """How many hidden values have none that are shown to differ from."""
    is_hidden = ~rows.is_shown([question.mechanism])
    dropped = is_hidden & ~rows.is_shown(model.never_without)
    if share := float(rows.counts[dropped].sum() / rows.counts[is_hidden].sum()):
        yield (
            f"{share:.1%} of the hidden values of {question.mechanism} are in rows that hide "
            f"{' or '.join(model.never_without)} too, and no such row shows it: these are not "
            "tilted themselves, but like the values of all others with the same history."
        )


def on_tilts(result: Sensitivity) -> str:
    """What the data say about the tilt itself."""
    words = "Rows alone cannot say which tilt is right."
    logs = result.log_likelihoods
    if not logs:
        return words
    fitting = [d for d, log in zip(result.deltas, logs, strict=True) if log > max(logs) - AS_GOOD]
    low, high = (f"{delta:+g}" if delta else "0" for delta in (fitting[0], fitting[-1]))
    if len(fitting) == len(logs):
        which = "all fit"
    elif low == high:
        which = f"only delta = {low} fits"
    else:
        which = f"those from delta = {low} to {high} fit"
    mechanism = result.question.mechanism
    causes = ", ".join([mechanism, *result.within])
    return (
        f"{words} If the network's independences hold, and only {causes} may decide whether "
        f"{mechanism} is shown, of these tilts {which} the data."
    )
