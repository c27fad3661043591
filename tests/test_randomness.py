"""Wherever randomness is asked for, a whole number is a seed, as it is for numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from public_names import functions_with

ASIA = lc.example("asia")
ROWS = lc.simulate(ASIA, 200, lc.MCAR(0.3, share=0.5), rng=1).to_frame()
WHOLE = lc.simulate(ASIA, 20, rng=1).to_frame()
LARGE = {"samples": 100, "memory": 0}  # too little memory: the divergence is sampled

CALLS: dict[str, Callable[[Any], object]] = {
    "learn": lambda rng: lc.learn(ASIA, ROWS, "em", rng=rng).network.tables_of,
    "simulate": lambda rng: lc.simulate(ASIA, 20, rng=rng).to_frame(),
    "sample": lambda rng: ASIA.sample(20, rng=rng),
    "hide": lambda rng: lc.hide(ASIA, WHOLE, lc.MCAR(0.3, share=0.5), rng=rng),
    "impute": lambda rng: str(ASIA.impute(ROWS, draws=2, rng=rng, proper=False)),
    "diagnose": lambda rng: str(lc.diagnose(ROWS, ASIA, rng=rng)),
    "kl_divergence": lambda rng: lc.kl_divergence(ASIA, ASIA, rng=rng, **LARGE),
    "learn_structure": lambda rng: lc.learn_structure(ROWS, rng=rng, strengths=10).strengths,
}


def test_every_public_function_with_a_source_of_randomness_is_here() -> None:
    assert functions_with("rng") == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:the divergence is the mean over")
def test_a_whole_number_is_the_seed_of_a_generator(name: str) -> None:
    call = CALLS[name]
    assert str(call(7)) == str(call(np.random.default_rng(7)))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("rng", ["x", -1, 0.5])
def test_what_is_no_source_of_randomness_is_refused(name: str, rng: Any) -> None:
    with pytest.raises(lc.LacunetError, match="seed") as refused:
        CALLS[name](rng)
    assert refused.value.message.startswith(f"rng is {rng!r}")
    assert "numpy.random.Generator" in refused.value.hint
