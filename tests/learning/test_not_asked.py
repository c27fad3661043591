"""No CPT, prediction, draw or completion breaks a rule of what was not asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy.optimize import minimize

import lacunet as lc
from enumeration import joint
from lacunet.inference.sampling import sample_codes
from lacunet.network.errors import NetworkError

METHODS = ("em", "direct-mcar", "direct-mar", "factored-mcar", "factored-mar", "listwise", "auto")
RULES = ("Smoked=no", "Smoked=no or Age=young", "not (Age=old and Smoked=yes)", "Age!=middle")


def survey(rule: str) -> lc.Network:
    """Who smokes now was asked of some, and how much of those who do."""
    return lc.Network(
        {
            "Age": ["young", "middle", "old"],
            "Smoked": ["no", "yes"],
            "Now": ["daily", "not_asked", "never"],
            "Packs": ["one", "more", "skipped"],
            "Ill": ["no", "yes"],
        },
        {
            "Smoked": ["Age"],
            "Now": ["Smoked", "Age"],
            "Packs": ["Now", "Ill"],
            "Ill": ["Smoked"],
        },
        not_asked={"Now": rule, "Packs": ("Now!=daily", "skipped")},
    )


def truth(network: lc.Network, rng: np.random.Generator) -> lc.Network:
    """CPTs drawn at random that obey the rules."""
    tables = {}
    for name in network.variables:
        shape = network.shape(network.family(name))
        weights = rng.standard_gamma(1.0, shape) + 0.02
        weights = np.where(network.possible(name), weights, 0.0)
        tables[name] = weights / weights.sum(axis=-1, keepdims=True)
    return network.with_tables(tables)


def table_of(network: lc.Network, rng: np.random.Generator, rows: int) -> dict[str, list[object]]:
    """Rows of the network as a survey has them: not asked is empty too."""
    drawn = sample_codes(truth(network, rng), rows, rng)
    hidden = rng.random((rows, len(network.variables))) < rng.choice([0.1, 0.3, 0.5])
    found: dict[str, list[object]] = {}
    for at, name in enumerate(network.variables):
        rule = network.not_asked_of.get(name)
        skip = None if rule is None else rule.state
        states = [network.states(name)[code] for code in drawn.columns[name]]
        found[name] = [
            None if gone or state == skip else state
            for state, gone in zip(states, hidden[:, at], strict=True)
        ]
    return found


def breaks(network: lc.Network, rows: Mapping[str, Sequence[str]]) -> int:
    """How many cells of complete rows break a rule."""
    found = 0
    for name, rule in network.not_asked_of.items():
        places = tuple(
            np.array([network.state_index(other, state) for state in rows[other]])
            for other in rule.scope
        )
        is_skip = np.array(rows[name]) == rule.state
        found += int((is_skip != rule.truth[places]).sum())
    return found


def obeys(network: lc.Network) -> bool:
    """Whether all CPTs give no probability to what rules exclude, and some to all else."""
    return all(
        (network.cpt(name).table[~network.possible(name)] == 0).all()
        for name in network.not_asked_of
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_nothing_breaks_a_rule(rule: str, method: str) -> None:
    network = survey(rule)
    for seed in range(8):  # with all rules and methods: 224 tables
        rng = np.random.default_rng([seed, METHODS.index(method), RULES.index(rule)])
        rows = table_of(network, rng, 40)
        learned = lc.learn(network, rows, method, rng=0).network
        assert obeys(learned)
        drawn = sample_codes(learned, 200, rng)
        words = {v: [learned.states(v)[code] for code in own] for v, own in drawn.columns.items()}
        assert breaks(network, words) == 0
        assert breaks(network, learned.impute(rows)) == 0
        for one in learned.impute(rows, draws=2, proper=False, rng=rng):
            assert breaks(network, one) == 0


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
@pytest.mark.parametrize("method", ["em", "direct-mar", "factored-mar"])
def test_draws_of_parameters_obey_too_and_intervals_of_zeros_are_zeros(method: str) -> None:
    network = survey(RULES[1])
    rng = np.random.default_rng(5)
    rows = table_of(network, rng, 150)
    result = lc.learn(network, rows, method, intervals=True)
    for one in result.impute(rows, draws=3, rng=rng):
        assert breaks(network, one) == 0
    for name in network.not_asked_of:
        possible = network.possible(name)
        assert (result.interval(name)[~possible] == 0).all()
        sure = possible & (possible.sum(axis=-1, keepdims=True) == 1)
        assert (result.interval(name)[sure] == 1).all()
        assert (result.standard_error(name)[~possible | sure] == 0).all()


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_what_a_rule_decides_needs_no_data() -> None:
    states = {"Age": ["young", "old"], "Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]}
    network = lc.Network(states, {"Now": ["Age", "Smoked"]}, not_asked={"Now": "Smoked=no"})
    rows = {"Age": ["old"] * 4, "Smoked": ["no", "yes"] * 2, "Now": [None, "yes", None, "no"]}
    result = lc.learn(network, rows, "direct-mcar")
    assert result.network.support is not None
    assert result.network.support["Now"].tolist() == [[True, False], [True, True]]
    assert result.families["Now"].unsupported == 1
    assert result.families["Now"].support.tolist() == [[0, 0], [2, 2]]  # counts rows all the same


@pytest.mark.parametrize("rule", RULES)
def test_rows_of_a_cpt_that_rules_exclude_need_no_data(rule: str) -> None:
    bare = survey(rule)
    names = ("Packs", "Smoked", "Age", "Now")
    network = lc.Network(
        bare.states_of,
        {**{v: bare.parents(v) for v in ("Smoked", "Now")}, "Packs": ["Now"], "Ill": names},
        not_asked=bare.not_asked_of,
    )
    rng = np.random.default_rng(4)
    network = truth(network, rng)
    of_all = joint(network)
    axes = [network.variables.index(name) for name in names]
    others = tuple(at for at in range(of_all.ndim) if at not in axes)
    kept = [at for at in range(of_all.ndim) if at in axes]
    can_occur = (of_all.sum(axis=others) > 0).transpose([kept.index(axis) for axis in axes])
    assert (network.needs_data("Ill") == can_occur).all()
    drawn = sample_codes(network, 4000, rng)
    result = lc.learn(network.with_tables(None), drawn, "direct-mcar")
    seen = np.zeros(can_occur.shape, bool)
    seen[tuple(drawn.columns[name] for name in names)] = True
    assert result.families["Ill"].unsupported == (can_occur & ~seen).sum()


def test_predictions_obey_where_the_rule_is_known() -> None:
    network = truth(survey("Smoked=no"), np.random.default_rng(0))
    given = {"Age": ["old"] * 2, "Smoked": ["no", "yes"], "Ill": ["no"] * 2, "Packs": [None] * 2}
    found = network.predict(given, "Now")
    assert list(found["Now=not_asked"]) == [1, 0]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("target", ["Age", "Smoked", "Now", "Packs", "Ill"])
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_no_rule_makes_a_target_its_own_evidence(rule: str, target: str) -> None:
    rng = np.random.default_rng(RULES.index(rule))
    network = truth(survey(rule), rng)
    rows = table_of(network, rng, 60)
    for targets in ([target], [target, "Smoked"] if target != "Smoked" else ["Smoked", "Now"]):
        hidden = {**rows, **{name: [None] * 60 for name in targets}}
        found, expected = (network.predict(own, targets) for own in (rows, hidden))
        for column, cells in found.items():
            np.testing.assert_allclose(cells, expected[column], rtol=0, atol=1e-12)


def test_a_shown_answer_and_a_rule_without_targets_stay_evidence() -> None:
    network = truth(survey("Smoked=no or Age=young"), np.random.default_rng(1))
    rows = {
        "Age": ["old", "young", "old"],
        "Smoked": ["yes", "yes", "no"],
        "Now": ["daily", None, "not_asked"],
        "Packs": ["one", None, None],
        "Ill": ["no"] * 3,
    }
    found = network.predict(rows, ["Smoked"], give=["probabilities", "log-probability"])
    assert found["Smoked=yes"][0] == 1
    assert 0 < found["Smoked=yes"][1] < 1
    assert found["Smoked=no"][2] == 1  # written in the row, not filled in by its rule
    shown = [network.log_likelihood({v: [own[at]] for v, own in rows.items()}) for at in range(3)]
    np.testing.assert_allclose(found["log-probability"], shown, rtol=1e-12)


def test_what_contradicts_a_rule_is_refused_where_its_variable_is_predicted() -> None:
    network = truth(survey("Smoked=no"), np.random.default_rng(1))
    rows = {"Age": ["old"], "Smoked": ["no"], "Now": ["daily"], "Packs": [None], "Ill": ["no"]}
    with pytest.raises(lc.LacunetError, match="contradicts its rule in 1 row"):
        network.predict(rows, "Smoked")


def test_a_network_whose_cpts_break_a_rule_is_refused() -> None:
    states = {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]}
    tables = {"Smoked": [0.5, 0.5], "Now": [[0, 0, 1], [0.5, 0.4, 0.1]]}
    with pytest.raises(NetworkError, match="does not obey its rule"):
        lc.Network(states, {"Now": ["Smoked"]}, tables, not_asked={"Now": "Smoked=no"})


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_em_on_a_graph_learns_numbers_that_were_not_asked_of_all() -> None:
    rng = np.random.default_rng(0)
    smokes = rng.choice(["no", "yes"], 200)
    number = [None if own == "no" else float(rng.integers(1, 40)) for own in smokes]
    ill = [str(own) if rng.random() < 0.7 else None for own in rng.choice(["no", "yes"], 200)]
    number[np.flatnonzero(smokes == "yes")[0]] = None
    rows = {"Smokes": smokes.tolist(), "Number": number, "Ill": ill}
    data = lc.Data(rows, not_asked={"Number": "Smokes=no"})
    network = lc.Network.from_data(
        lc.Data(data, bins={"Number": 3}), "Smokes -> Number; Number -> Ill"
    )
    result = lc.learn(network, data, "em", missingness="Ill -> R[Number]; R[Ill]")
    np.testing.assert_array_equal(result.network.cpt("Number").table[0], [0, 0, 0, 1])
    sure = lc.learn(network, data, "em", intervals=True)
    answer = sure.query("Number", {"Smokes": "yes"})
    np.testing.assert_array_equal(answer.interval[-1], [0, 0])  # it was asked
    assert (answer.interval[:-1, 0] < answer.interval[:-1, 1]).all()


@pytest.mark.parametrize("method", ["em", "direct-mar"])
def test_rows_that_a_rule_decides_have_no_effective_size(method: str) -> None:
    network = lc.Network(
        {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
        {"Now": ["Smoked"]},
        not_asked={"Now": "Smoked=no"},
    )
    rows = {"Smoked": ["no", "no", "yes", "yes"], "Now": [None] * 4}
    result = lc.learn(network, rows, method, intervals=True)
    assert result.families["Now"].effective_size == 0  # nobody who smoked says more
    assert result.families["Now"].effective == "0"


@pytest.mark.parametrize("method", ["em", "direct-mar", "factored-mar"])
def test_of_a_cpt_row_with_structural_zeros_the_answer_is_as_sure_as_the_entry(
    method: str,
) -> None:
    network = survey("Smoked=no")
    rows = table_of(network, np.random.default_rng(4), 3_000)
    result = lc.learn(network, rows, method, intervals=True)
    answer = result.query("Now", {"Smoked": "yes", "Age": "old"})
    np.testing.assert_allclose(answer.interval, result.interval("Now")[1, 2], rtol=0, atol=1e-12)


def test_what_a_rule_excludes_is_no_pseudo_count_against_the_rows() -> None:
    network = lc.Network(
        {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
        {"Now": ["Smoked"]},
        not_asked={"Now": "Smoked=no"},
    )
    rows = {"Smoked": ["no", "no", "yes", "yes"], "Now": [None, None, "no", "yes"]}
    assert (
        not lc.learn(network, rows, "direct-mar", pseudo_counts=1).families["Now"].warnings
    )  # two against two
    (warning,) = lc.learn(network, rows, "direct-mar", pseudo_counts=2).families["Now"].warnings
    assert "the 4 pseudo" in warning


@pytest.mark.parametrize("share_unseen", [0.0, 0.3])
def test_tilts_by_em_allow_for_who_was_not_asked(share_unseen: float) -> None:
    rng = np.random.default_rng(2)
    smoked = rng.random(600) < 0.6
    now = rng.choice(3, 600, p=[0.5, 0.3, 0.2])
    is_hidden = rng.random(600) < np.where(now == 2, 0.6, 0.3)
    is_unseen = rng.random(600) < share_unseen
    rows = {
        "Smoked": [
            None if h else ("no", "yes")[int(s)] for s, h in zip(smoked, is_unseen, strict=True)
        ],
        "Now": [
            "abc"[v] if s and not h else None
            for s, v, h in zip(smoked, now, is_hidden, strict=True)
        ],
    }
    network = lc.Network(
        {"Smoked": ["no", "yes"], "Now": ["a", "b", "c", "not_asked"]},
        {"Now": ["Smoked"]},
        not_asked={"Now": "Smoked=no"},
    )
    counts = Counter(zip(rows["Smoked"], rows["Now"], strict=True))

    def answer(delta: float) -> float:
        """P(Now=c | Smoked=yes) of highest likelihood: nobody hides what was not asked."""

        def surprise(at: np.ndarray) -> float:
            asked, law = 1 / (1 + np.exp(-at[0])), np.exp([*at[1:3], 0.0])
            odds = np.exp(at[3] + delta * np.array([0, 0, 1]))
            law, hides = law / law.sum(), odds / (1 + odds)
            total = 0.0
            for (smoked, now), count in counts.items():
                own = law @ hides if now is None else (law * (1 - hides))["abc".index(now)]
                is_skip = smoked != "yes" and now is None
                total -= count * np.log(asked * own * (smoked != "no") + (1 - asked) * is_skip)
            return float(total)

        law = np.exp([*minimize(surprise, np.zeros(4)).x[1:3], 0.0])
        return float(law[2] / law.sum())

    options = {"within": [], "deltas": [-1.0, 1.0], "method": "em", "pseudo_counts": 0, "groups": 2}
    found = lc.sensitivity(network, rows, "Now=c | Smoked=yes", "Now", **options)
    np.testing.assert_allclose(found.answers, [answer(d) for d in found.deltas], atol=2e-5)
    assert not any("was asked" in word for word in found.words)
    with pytest.raises(lc.LacunetError, match="'not_asked' is not an answer"):
        lc.sensitivity(network, rows, "Now=c", "Now", tilted_state="not_asked")
