from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lacunet as lc
from examples import APPENDIX, RAIN, appendix_table
from lacunet.errors import LacunetError
from lacunet.plots import cpt_heatmap, em_trace, learning_curves, missing_patterns


def drawn(axes: Any) -> Any:
    """Axes as they are: the stubs know less of them than matplotlib."""
    return axes


def test_the_heat_map_prints_every_probability_of_the_cpt() -> None:
    (axes,) = cpt_heatmap(RAIN, "Wet").axes
    shown = [text.get_text() for text in axes.texts]
    assert shown == [f"{p:.3f}" for p in RAIN.cpt("Wet").table.ravel()]
    np.testing.assert_array_equal(axes.images[0].get_array(), RAIN.cpt("Wet").table.reshape(4, 2))


def test_a_cpt_too_large_to_draw_is_refused() -> None:
    with pytest.raises(LacunetError, match="more than 64 can be drawn"):
        cpt_heatmap(lc.example("barley"), "ntilg")


def test_the_patterns_are_drawn_from_the_commonest_on() -> None:
    above, below = map(drawn, missing_patterns(APPENDIX, appendix_table()).axes)
    heights = [bar.get_height() for bar in above.patches]
    np.testing.assert_allclose(heights, [16 / 36, 8 / 36, 8 / 36, 4 / 36])
    assert [label.get_text() for label in below.get_yticklabels()] == ["X (33%)", "Y (33%)"]


def test_the_trace_of_em_is_the_one_in_the_result() -> None:
    result = lc.learn(APPENDIX, appendix_table(), method=lc.EM(stop="heldout"))
    assert result.ended
    first, second = map(drawn, em_trace(result).axes)
    assert tuple(first.lines[0].get_ydata()) == result.ended.trace
    assert tuple(second.lines[0].get_ydata()) == result.ended.heldout


def test_a_closed_form_has_no_trace_to_draw() -> None:
    with pytest.raises(LacunetError, match="no iterations"):
        em_trace(lc.learn(APPENDIX, appendix_table(), method="direct-mcar"))


def test_curves_show_the_median_and_the_quartiles() -> None:
    figure = learning_curves({"em": {10: [1, 2, 3, 4, 5], 100: [1.0] * 5}})
    axes = drawn(*figure.axes)
    assert axes.lines[0].get_ydata().tolist() == [3, 1]
    band = axes.collections[0].get_paths()[0].vertices
    assert {2.0, 4.0} <= set(band[:, 1])
    assert axes.lines[0].get_label() == "em (n=5)"
