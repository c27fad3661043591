"""What a CPT gains by its right shape: divergence from the truth, beside tables and fits by hand.

    python benchmarks/shapes.py [--seeds 10] [--tables 100]
        [panels links steps dropout items exact coverage kinds time size]

Each problem is drawn anew for each seed, CPTs included. "by hand" is an estimate that shares no
code with lacunet: EM with messages along the chain for panels, the likelihood in closed form given
to SciPy for a noisy-OR of independent causes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import lacunet as lc
from lacunet.network.shapes.shape import Shape
from lacunet.network.shapes.shape_names import shape_named
from lacunet.text_tables import TextTable

FloatArray = NDArray[np.float64]
PEOPLE, WAVES = 300, 8
UNTIED = {"H": False, "S": False}
TEMPLATE = "H[t-1] -> H[t]; H[t] -> S[t]"


def hidden(codes: NDArray[np.int64], labels: str, shown: NDArray[np.bool_]) -> list[str | None]:
    """Codes as labels, None where they are not shown."""
    return [labels[c] if s else None for c, s in zip(codes.tolist(), shown.tolist(), strict=True)]


def drawn_by(table: FloatArray, given: NDArray[np.int64], rng: np.random.Generator) -> Any:
    """A state for each row, by the row of the table that is given."""
    rows = table[given]
    return (rng.random((len(given), 1)) > rows.cumsum(axis=1)[:, :-1]).sum(axis=1)


def panel(seed: int, people: int = PEOPLE) -> tuple[dict[str, list[Any]], Mapping[str, FloatArray]]:
    """People whose health is seen for some waves, with gaps; then they drop out."""
    rng = np.random.default_rng(seed)
    cpts = {
        "first": rng.dirichlet(np.ones(3)),
        "step": rng.dirichlet(np.ones(3), 3),
        "sign": rng.dirichlet(np.ones(2), 3),
    }
    health = np.zeros((people, WAVES), np.int64)
    health[:, 0] = drawn_by(cpts["first"][None], np.zeros(people, np.int64), rng)
    for t in range(1, WAVES):
        health[:, t] = drawn_by(cpts["step"], health[:, t - 1], rng)
    sign = drawn_by(cpts["sign"], health.ravel(), rng).reshape(health.shape)
    stays = rng.random(health.shape) > 0.05
    stays[:, 0] = True
    there = np.logical_and.accumulate(stays, axis=1)
    rows: dict[str, list[Any]] = {
        "who": np.repeat(np.arange(people), WAVES).tolist(),
        "wave": np.tile(np.arange(WAVES), people).tolist(),
    }
    for name, codes, labels in (("H", health, "abc"), ("S", sign, "ny")):
        shown = there & (rng.random(codes.shape) > 0.13)
        rows[name] = hidden(codes.ravel(), labels, shown.ravel())
    return rows, cpts


def unrolled(network: lc.Network, cpts: Mapping[str, FloatArray]) -> lc.Network:
    """A panel's network with these CPTs."""
    table_of = {"H": cpts["step"], "S": cpts["sign"]}
    tables = {name: table_of[name[0]] for name in network.variables}
    return network.with_tables({**tables, "H[0]": cpts["first"]})


def panel_by_hand(rows: Mapping[str, list[Any]]) -> dict[str, FloatArray]:
    """EM along the chain, with one pseudo-count per cell."""
    health = np.array([-1 if h is None else "abc".index(h) for h in rows["H"]])
    sign = np.array([-1 if s is None else "ny".index(s) for s in rows["S"]])
    health, sign = (codes.reshape(PEOPLE, WAVES) for codes in (health, sign))
    first, step = np.full(3, 1 / 3), np.full((3, 3), 1 / 3) + 0.1 * np.eye(3)
    step /= step.sum(axis=1, keepdims=True)
    emit = np.array([[0.6, 0.4], [0.5, 0.5], [0.4, 0.6]])
    for _ in range(500):
        of_sign = np.where(sign[..., None] < 0, 1.0, emit.T[sign])
        of = of_sign * np.where(health[..., None] < 0, 1.0, np.eye(3)[health])
        forward, backward = np.zeros(of.shape), np.ones(of.shape)
        forward[:, 0] = first * of[:, 0]
        for t in range(1, WAVES):
            forward[:, t] = forward[:, t - 1] @ step * of[:, t]
        for t in range(WAVES - 2, -1, -1):
            backward[:, t] = (of[:, t + 1] * backward[:, t + 1]) @ step.T
        total = forward[:, -1].sum(axis=1)[:, None]
        belief = forward * backward / total[:, None]
        steps = np.ones((3, 3))
        for t in range(1, WAVES):
            after = of[:, t] * backward[:, t] / total
            steps += step * (forward[:, t - 1].T @ after)
        seen = np.where(sign[..., None] < 0, 0.0, np.eye(2)[sign])
        signs = 1 + np.einsum("itk,itj->kj", belief, seen)
        signs += np.einsum("itk,it->k", belief, sign < 0)[:, None] * emit
        first = 1 + belief[:, 0].sum(axis=0)
        first, step, emit = (n / n.sum(axis=-1, keepdims=True) for n in (first, steps, signs))
    return {"first": first, "step": step, "sign": emit}


def panels(seed: int) -> dict[str, float]:
    """Divergence of a panel: a CPT for each wave, tied CPTs, tied EM by hand."""
    rows, cpts = panel(seed)
    data = lc.Data(rows, unit="who", time="wave")
    tied = lc.learn(TEMPLATE, data)
    truth = unrolled(tied.network, cpts)
    untied = lc.learn(TEMPLATE, data, tied=UNTIED)
    by_hand = unrolled(tied.network, panel_by_hand(rows))
    return {
        "tables": lc.kl_divergence(truth, untied),
        "right shape": lc.kl_divergence(truth, tied),
        "by hand": lc.kl_divergence(truth, by_hand),
    }


def links(seed: int, causes: int, rows: int) -> dict[str, float]:
    """Divergence of a noisy-OR of independent causes: a table, the shape, the likelihood's fit."""
    rng = np.random.default_rng(seed)
    names = [f"C{k}" for k in range(causes)]
    present = rng.uniform(0.1, 0.5, causes)
    link, leak = rng.uniform(0.1, 0.9, causes), rng.uniform(0.01, 0.1)
    states = {name: ["no", "yes"] for name in (*names, "E")}
    network = lc.Network(states, {"E": names})
    truth = network.with_tables(
        {
            **{name: [1 - p, p] for name, p in zip(names, present, strict=True)},
            "E": noisy_or_table(link, leak),
        }
    )
    data = hidden_rows(truth, rows, 0.2, seed)
    table = lc.learn(network, data)
    shaped = lc.learn(network, data, shapes={"E": "noisy-or"})
    cells = np.array([[{None: -1, "no": 0, "yes": 1}[cell] for cell in data[v]] for v in states]).T
    present_by_hand, link_by_hand, leak_by_hand = noisy_or_by_hand(cells)
    by_hand = network.with_tables(
        {
            **{v: [1 - p, p] for v, p in zip(names, present_by_hand, strict=True)},
            "E": noisy_or_table(link_by_hand, leak_by_hand),
        }
    )
    return {
        "tables": lc.kl_divergence(truth, table),
        "right shape": lc.kl_divergence(truth, shaped),
        "by hand": lc.kl_divergence(truth, by_hand),
    }


def noisy_or_table(link: FloatArray, leak: float) -> FloatArray:
    """The CPT, an axis for each cause."""
    absent = np.array(1 - leak)
    for p in link:
        absent = np.stack([absent, absent * (1 - p)], axis=-1)
    return np.stack([absent, 1 - absent], axis=-1)


def noisy_or_by_hand(cells: NDArray[np.int64]) -> tuple[FloatArray, FloatArray, float]:
    """The likelihood of incomplete rows: a cause that is not seen adds a factor by itself.

    One pseudo-count of each kind keeps the parameters inside their bounds.
    """
    seen, effect = cells[:, :-1], cells[:, -1]
    causes = seen.shape[1]

    def loss(parameters: FloatArray) -> float:
        chance = 1 / (1 + np.exp(-parameters))
        present, link, leak = chance[:causes], chance[causes:-1], chance[-1]
        of_seen = np.where(seen == 1, present, np.where(seen == 0, 1 - present, 1.0))
        spared = np.where(seen == 1, 1 - link, np.where(seen == 0, 1.0, 1 - present * link))
        absent = (1 - leak) * spared.prod(axis=1)
        of_effect = np.where(effect == 0, absent, np.where(effect == 1, 1 - absent, 1.0))
        prior = np.log(chance).sum() + np.log1p(-chance).sum()
        return -float(np.log(of_seen).sum() + np.log(of_effect).sum() + prior)

    solved = minimize(loss, np.full(2 * causes + 1, -0.5), method="L-BFGS-B")
    chance = 1 / (1 + np.exp(-solved.x))
    return chance[:causes], chance[causes:-1], float(chance[-1])


def hidden_rows(
    truth: lc.Network, rows: int, missing: float, seed: int
) -> dict[str, list[str | None]]:
    """Rows of a network, of which so many cells are missing completely at random."""
    drawn = lc.simulate(truth, rows, lc.MCAR(missing, share=1.0), rng=np.random.default_rng(seed))
    frame = drawn.to_frame("pyarrow")
    return {name: frame[name].to_pylist() for name in truth.variables}


def of_shape(shape: str, parents: int, states: int, rng: np.random.Generator) -> lc.Network:
    """A network of roots and a child whose CPT has the shape, at random."""
    names = [f"P{k}" for k in range(parents)]
    labels = ["no", "yes"] if states == 2 else ["low", "middle", "high"]
    network = lc.Network(dict.fromkeys((*names, "Y"), labels), {"Y": names})
    asked: Shape = shape_named(shape)
    shaped = asked.of("Y", tuple(names), (tuple(labels),) * (parents + 1))
    counts = np.ones(shaped.shape)
    near = shaped.fit(counts)
    parameters = shaped.parameters(near)
    parameters = parameters + rng.normal(0, 0.8, parameters.shape)
    if shape == "ordinal":
        parameters = shaped.parameters(
            shaped.fit(rng.dirichlet(np.ones(states), counts.shape[:-1]))
        )
        parameters[states - 1 :] += rng.normal(0, 0.8, len(parameters) - states + 1)
    tables = {v: rng.dirichlet(np.full(states, 5.0)) for v in names}
    return network.with_tables({**tables, "Y": shaped.table(parameters)})


def steps(seed: int, shape: str) -> dict[str, float]:
    """Divergence of six parents of three states: a table, and the shape."""
    truth = of_shape(shape, 6, 3, np.random.default_rng(seed))
    data = hidden_rows(truth, 1000, 0.2, seed)
    network = truth.with_tables(None)
    return {
        "tables": lc.kl_divergence(truth, lc.learn(network, data)),
        "right shape": lc.kl_divergence(truth, lc.learn(network, data, shapes={"Y": shape})),
    }


def dropout(seed: int) -> dict[str, float]:
    """Divergence where the ill drop out: EM on the graph, a CPT for each wave and tied."""
    rng = np.random.default_rng(seed)
    people, waves = 1000, 5
    cpts = {
        "first": rng.dirichlet(np.full(2, 5.0)),
        "step": np.array([rng.dirichlet([8, 2]), rng.dirichlet([3, 7])]),
        "sign": np.array([[0.85, 0.15], [0.2, 0.8]]),
    }
    ill = np.zeros((people, waves), np.int64)
    ill[:, 0] = drawn_by(cpts["first"][None], np.zeros(people, np.int64), rng)
    for t in range(1, waves):
        ill[:, t] = drawn_by(cpts["step"], ill[:, t - 1], rng)
    sign = drawn_by(cpts["sign"], ill.ravel(), rng)
    stays = rng.random(ill.shape) > np.where(ill == 1, 0.3, 0.05)
    stays[:, 0] = True
    there = np.logical_and.accumulate(stays, axis=1)
    rows: dict[str, list[Any]] = {
        "who": np.repeat(np.arange(people), waves).tolist(),
        "wave": np.tile(np.arange(waves), people).tolist(),
        "H": hidden(ill.ravel(), "ny", there.ravel()),
        "S": hidden(sign, "ny", np.ones(sign.shape, bool)),
    }
    data = lc.Data(rows, unit="who", time="wave")
    graph = "H[t] -> R[H[t]]; R[H[t]] <= R[H[t-1]]"
    tied = lc.learn(TEMPLATE, data, "em", missingness=graph)
    untied = lc.learn(TEMPLATE, data, "em", missingness=graph, tied=UNTIED)
    truth = unrolled(tied.network, cpts)
    return {
        "tables": lc.kl_divergence(truth, untied),
        "right shape": lc.kl_divergence(truth, tied),
    }


def items(seed: int) -> dict[str, float]:
    """Divergence of three items of the same four causes: tables, and one noisy-OR for all."""
    rng = np.random.default_rng(seed)
    names = [f"C{k}" for k in range(4)]
    item = [f"I{k}" for k in range(3)]
    states = {name: ["no", "yes"] for name in (*names, *item)}
    network = lc.Network(states, dict.fromkeys(item, names))
    table = noisy_or_table(rng.uniform(0.1, 0.9, 4), 0.05)
    roots = {name: rng.dirichlet(np.array([7.0, 3.0])) for name in names}
    truth = network.with_tables({**roots, **dict.fromkeys(item, table)})
    data = hidden_rows(truth, 200, 0.3, seed)
    right = lc.learn(network, data, tied=[item], shapes={"I0": "noisy-or"})
    return {
        "tables": lc.kl_divergence(truth, lc.learn(network, data)),
        "right shape": lc.kl_divergence(truth, right),
    }


def two_kinds(seed: int, people: int) -> dict[str, list[Any]]:
    """People who mostly stay as they are, and people who change: one transition for both is coarse.

    A wave in twenty is the last that a person is seen in, and 13% of the cells are missing.
    """
    rng = np.random.default_rng(seed)
    stays = np.array([[0.9, 0.1], [0.15, 0.85]])
    changes = np.array([[0.6, 0.4], [0.5, 0.5]])
    kind = rng.random(people) < 0.5
    health = np.zeros((people, WAVES), np.int64)
    health[:, 0] = rng.random(people) < 0.4
    for t in range(1, WAVES):
        before = health[:, t - 1]
        ill = np.where(kind, stays[before, 1], changes[before, 1])
        health[:, t] = rng.random(people) < ill
    goes_on = rng.random(health.shape) > 0.05
    goes_on[:, 0] = True
    shown = np.logical_and.accumulate(goes_on, axis=1) & (rng.random(health.shape) > 0.13)
    return {
        "who": np.repeat(np.arange(people), WAVES).tolist(),
        "wave": np.tile(np.arange(WAVES), people).tolist(),
        "H": hidden(health.ravel(), "ny", shown.ravel()),
    }


def covered_network(shape: str) -> tuple[lc.Network, str]:
    """A network with a CPT of this shape, and the variable that has it."""
    if shape == "noisy-or":
        return of_noisy_or(5).with_shapes({"E": shape}), "E"
    rng = np.random.default_rng(7)
    if shape != "noisy-max":
        return of_shape(shape, 3, 3, rng).with_shapes({"Y": shape}), "Y"
    names = [f"P{k}" for k in range(3)]
    network = lc.Network(
        dict.fromkeys((*names, "Y"), ("none", "some", "much")), {"Y": names}
    ).with_shapes({"Y": shape})
    shaped = network.shaped_of["Y"]
    increments = rng.exponential(0.5, len(shaped.parameter_names)) + 0.05
    increments[[0, len(increments) // 2]] = 0.05  # the leak
    roots = {name: rng.dirichlet(np.full(3, 5.0)) for name in names}
    return network.with_tables({**roots, "Y": shaped.table(increments)}), "Y"


def exact(seeds: int) -> None:
    """Where the answer is known: complete panels, a hidden chain, and Muscatine."""
    lines = [
        ["complete panels, transition beside counting", max(map(beside_counting, range(seeds)))],
        ["hidden chain, log-likelihood beside hmmlearn", beside_hmmlearn(seeds)],
        ["Muscatine, tied transition beside SciPy", beside_scipy("table")],
        ["the same, logistic", beside_scipy("logistic")],
    ]
    rows = [[title, "not installed" if d is None else f"{d:.1e}"] for title, d in lines]
    print(TextTable(["exact", "largest difference"], rows, left=1))


def beside_counting(seed: int) -> float:
    """How far the transition of a complete panel is from counting it."""
    rng = np.random.default_rng(seed)
    health = rng.integers(0, 3, (PEOPLE, WAVES))
    rows = {
        "who": np.repeat(np.arange(PEOPLE), WAVES).tolist(),
        "wave": np.tile(np.arange(WAVES), PEOPLE).tolist(),
        "H": ["abc"[code] for code in health.ravel()],
    }
    data = lc.Data(rows, unit="who", time="wave")
    steps = np.zeros((3, 3))
    np.add.at(steps, (health[:, :-1].ravel(), health[:, 1:].ravel()), 1)
    by_hand = steps / steps.sum(axis=1, keepdims=True)
    learned = [lc.learn("H[t-1] -> H[t]", data, m, pseudo_counts=0) for m in ("direct-mcar", "em")]
    return max(float(np.abs(r.cpt("H[2]").table - by_hand).max()) for r in learned)


def beside_hmmlearn(seeds: int) -> float | None:
    """How far the likelihood of a hidden chain is from hmmlearn's, at the parameters learned."""
    try:
        from hmmlearn.hmm import CategoricalHMM
    except ImportError:
        return None
    differences = []
    for seed in range(seeds):
        rows, _ = panel(seed)
        signs = {
            "who": rows["who"],
            "wave": rows["wave"],
            "S": ["n" if sign is None else sign for sign in rows["S"]],
        }
        data = lc.Data(signs, unit="who", time="wave", latent={"H": 2})
        result = lc.learn(TEMPLATE, data, "em", rng=seed, max_iterations=20)
        chain = CategoricalHMM(2, n_features=2)
        chain.startprob_ = result.cpt("H[0]").table
        chain.transmat_, chain.emissionprob_ = result.cpt("H[1]").table, result.cpt("S[0]").table
        codes = np.array([["ny".index(sign)] for sign in signs["S"]])
        theirs = chain.score(codes, [WAVES] * PEOPLE)
        differences.append(abs(float(result.network.log_likelihood(data)) - theirs))
    return max(differences)


def beside_scipy(shape: str) -> float:
    """How far Muscatine's tied transition is from where SciPy finds the likelihood highest.

    The model has a transition for each sex and age, or log-odds that sex, age and the last visit
    move each by itself.
    """
    table = lc.example_data("muscatine").to_pydict()
    waves = {"Obese": ["Obese1", "Obese2", "Obese3"]}
    data = lc.Data(table, counts="Count", waves=waves)
    template = "Sex, Age -> Obese[t]; Obese[t-1] -> Obese[t]"
    shapes = {"Obese": shape}
    result = lc.learn(template, data, "em", pseudo_counts=0, tolerance=1e-10, shapes=shapes)
    code = {None: -1, "no": 0, "yes": 1}
    seen = np.array([[code[cell] for cell in table[name]] for name in waves["Obese"]]).T
    counts = np.array(table["Count"], float)
    sexes, ages = sorted({*table["Sex"]}), sorted({*table["Age"]})
    shown = np.where(seen[..., None] < 0, 1.0, np.eye(2)[seen])
    sex = np.array([sexes.index(cell) for cell in table["Sex"]])
    age = np.array([ages.index(cell) for cell in table["Age"]])
    kinds = [(i, j) for i in range(len(sexes)) for j in range(len(ages))]
    if shape == "logistic":
        effects = np.array([[1.0, i, *(j == k for k in range(1, len(ages)))] for i, j in kinds])
    else:
        effects = np.eye(len(kinds))
    of_row = effects[sex * len(ages) + age]

    def loss(parameters: FloatArray) -> float:
        first, after_no, after_yes = _three_parts(parameters, of_row.shape[1], shape)
        p = [1 / (1 + np.exp(-of_row @ part)) for part in (first, after_no, after_yes)]
        start = np.stack([1 - p[0], p[0]], axis=-1)
        step = np.stack([1 - p[1], p[1], 1 - p[2], p[2]], axis=-1).reshape(-1, 2, 2)
        forward = start * shown[:, 0]
        for t in (1, 2):
            forward = np.einsum("ri,rij->rj", forward, step) * shown[:, t]
        return -float(counts @ np.log(forward.sum(axis=1)))

    width = of_row.shape[1]
    number = 2 * width + 1 if shape == "logistic" else 3 * width
    solved = minimize(loss, np.zeros(number), method="BFGS", options={"gtol": 1e-3})
    _, after_no, after_yes = _three_parts(solved.x, width, shape)
    by_hand = 1 / (1 + np.exp(-np.stack([effects @ after_no, effects @ after_yes], axis=-1)))
    learned = result.cpt("Obese[3]").table[..., 1].reshape(by_hand.shape)
    return float(np.abs(learned - by_hand).max())


def _three_parts(parameters: FloatArray, width: int, shape: str) -> tuple[FloatArray, ...]:
    """What moves the log-odds in the first wave, after "no" and after "yes"."""
    first, after_no = parameters[:width], parameters[width : 2 * width]
    if shape != "logistic":
        return first, after_no, parameters[2 * width :]
    after_yes = after_no.copy()
    after_yes[0] += parameters[-1]
    return first, after_no, after_yes


def coverage(tables: int) -> None:
    """How often 95% intervals hold the entries and the parameters of the truth, 30% missing."""

    def figures(rates: list[float]) -> str:
        return f"{np.mean(rates):.3f} ± {np.std(rates, ddof=1) / np.sqrt(len(rates)):.3f}"

    lines = []
    for shape in ("noisy-or", "noisy-max", "logistic", "ordinal"):
        truth, name = covered_network(shape)
        table, shaped = truth.cpt(name).table, truth.shaped_of[name]
        parameters = shaped.reported(shaped.parameters(table))
        for method, rows in product(("em", "direct-mcar"), (300, 2000)):
            of_entries, of_parameters = [], []
            for seed in range(tables):
                data = hidden_rows(truth, rows, 0.3, seed)
                result = lc.learn(truth.with_tables(None), data, method, intervals=True)
                low, high = np.moveaxis(result.interval(name), -1, 0)
                of_entries.append(float(((low <= table) & (table <= high)).mean()))
                ends = np.array([p.interval for p in result.parameters(name).parameters])
                holds = (ends[:, 0] <= parameters) & (parameters <= ends[:, 1])
                of_parameters.append(float(holds.mean()))
            line = [
                f"{shape}, {rows:,} rows, {method}",
                figures(of_entries),
                figures(of_parameters),
            ]
            lines.append(line)
            print(line, flush=True)
    for people in (300, 2000):
        rates = []
        for seed in range(tables):
            rows, cpts = panel(seed, people)
            data = lc.Data(rows, unit="who", time="wave")
            result = lc.learn(TEMPLATE, data, "em", intervals=True)
            held = []
            for name, table in (("H[2]", cpts["step"]), ("S[0]", cpts["sign"])):
                low, high = np.moveaxis(result.interval(name), -1, 0)
                held += ((low <= table) & (table <= high)).ravel().tolist()
            rates.append(float(np.mean(held)))
        lines.append([f"tied tables, {people:,} people, em", figures(rates), "-"])
        print(lines[-1], flush=True)
    print(TextTable(["coverage of 95%", "entries", "parameters"], lines, left=1))


def kinds(tables: int) -> None:
    """How often 95% intervals hold the transition that two million waves would give."""
    edges = "H[t-1] -> H[t]"

    def learned(seed: int, people: int, intervals: Any) -> lc.Result:
        data = lc.Data(two_kinds(seed, people), unit="who", time="wave")
        return lc.learn(edges, data, "em", pseudo_counts=0, intervals=intervals)

    truth = learned(10**6, 250_000, False).cpt("H[2]").table[:, 1]
    lines = []
    for people in (300, 2000):
        for intervals, name in ((True, "units"), ("model", "model")):
            held = []
            for seed in range(tables):
                both = learned(seed, people, intervals).interval("H[2]")[:, 1]
                held.append((both[:, 0] <= truth) & (truth <= both[:, 1]))
            rate = np.mean(held, axis=0)
            error = np.sqrt(rate * (1 - rate) / tables)
            figures = [f"{r:.3f} ± {e:.3f}" for r, e in zip(rate, error, strict=True)]
            lines.append([f"{people:,} people, intervals by {name}", *figures])
            print(lines[-1], flush=True)
    print(TextTable(["coverage of 95%", "from n", "from y"], lines, left=1))


PROBLEMS: dict[str, list[tuple[str, Callable[[int], dict[str, float]]]]] = {
    "panels": [("panel, 8 waves, 300 people", panels)],
    "links": [
        ("noisy-OR, 5 causes, 1,000 rows", lambda seed: links(seed, 5, 1000)),
        ("noisy-OR, 8 causes, 1,000 rows", lambda seed: links(seed, 8, 1000)),
        ("noisy-OR, 12 causes, 500 rows", lambda seed: links(seed, 12, 500)),
    ],
    "steps": [
        ("logistic, 6 parents of 3 states", lambda seed: steps(seed, "logistic")),
        ("ordinal, 6 parents of 3 states", lambda seed: steps(seed, "ordinal")),
    ],
    "dropout": [("MNAR dropout, 5 waves, EM on the graph", dropout)],
    "items": [("3 items of 4 causes, one noisy-OR", items)],
}


def ratio(work: Callable[[], object], beside: Callable[[], object], repeats: int = 9) -> str:
    """The least processor time of several runs of one, as a share of the other's, by turns."""
    times = []
    for _ in range(repeats):
        begin = process_time()
        work()
        middle = process_time()
        beside()
        times.append((middle - begin, process_time() - middle))
    least, least_beside = np.min(times, axis=0)
    return f"{least / least_beside:.2f}"


def times() -> None:
    """EM's time with ties and with shapes, as a share of that with tables."""
    rows, _ = panel(0)
    many = {**rows, "who": [*rows["who"]]}
    for copy in range(1, 10):
        more, _ = panel(copy)
        many = {v: [*many[v], *more[v]] for v in many if v != "who"} | {
            "who": [*many["who"], *(who + copy * PEOPLE for who in more["who"])]
        }
    data = lc.Data(many, unit="who", time="wave")
    tied = ratio(
        lambda: lc.learn(TEMPLATE, data, "em"),
        lambda: lc.learn(TEMPLATE, data, "em", tied=UNTIED),
    )
    lines = [["EM, panel of 3,000 people, tied", tied]]
    for causes in (5, 8, 12):
        truth = of_noisy_or(causes)
        cells = hidden_rows(truth, 5000, 0.2, causes)
        bare = truth.with_tables(None)
        shaped = ratio(
            lambda bare=bare, cells=cells: lc.learn(bare, cells, "em", shapes={"E": "noisy-or"}),
            lambda bare=bare, cells=cells: lc.learn(bare, cells, "em"),
        )
        lines.append([f"EM, 5,000 rows, noisy-OR of {causes} causes", shaped])
    print(TextTable(["time beside tables", "ratio"], lines, left=1))


def of_noisy_or(causes: int) -> lc.Network:
    """A noisy-OR of independent causes."""
    rng = np.random.default_rng(causes)
    names = [f"C{k}" for k in range(causes)]
    network = lc.Network({v: ["no", "yes"] for v in (*names, "E")}, {"E": names})
    tables: dict[str, Any] = {name: [0.7, 0.3] for name in names}
    table = noisy_or_table(rng.uniform(0.1, 0.9, causes), 0.05)
    return network.with_tables({**tables, "E": table})


def size(people: int = 100_000, waves: int = 20) -> None:
    """What it takes to learn a long panel of five variables, 30% of its cells missing."""
    import resource

    import pyarrow as pa

    rng = np.random.default_rng(0)

    def sign_of(codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return (rng.random(codes.shape) < np.where(codes, 0.8, 0.2)).astype(np.int64)

    health = np.zeros((people, waves), np.int64)
    health[:, 0] = rng.integers(0, 2, people)
    for t in range(1, waves):
        health[:, t] = rng.random(people) < np.where(health[:, t - 1], 0.85, 0.15)
    first, second = sign_of(health), sign_of(health)
    codes_of = {"H": health, "A": first, "B": second, "C": sign_of(first), "E": sign_of(second)}
    columns = {
        "who": pa.array(np.repeat(np.arange(people), waves)),
        "wave": pa.array(np.tile(np.arange(waves), people)),
    }
    for name, codes in codes_of.items():
        cells = pa.array(codes.ravel(), mask=rng.random(codes.size) < 0.3)
        columns[name] = pa.DictionaryArray.from_arrays(cells, ["n", "y"])
    edges = "H[t-1] -> H[t] -> A[t] -> C[t]; H[t] -> B[t] -> E[t]"
    data = lc.Data(pa.table(columns), unit="who", time="wave")
    begin = process_time()
    result = lc.learn(edges, data, "em")
    seconds = process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{people:,} people, {waves} waves of 5 variables: {seconds:.1f} s, peak {peak:.2f} GiB")
    print(result.cpt("H[2]"))


OTHERS = ("exact", "coverage", "kinds", "time", "size")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=[*PROBLEMS, *OTHERS])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", type=int, default=100, help="of each case of coverage")
    options = parser.parse_args()
    warnings.simplefilter("ignore", lc.LacunetWarning)
    lines = []
    for name in (name for name in options.problems if name in PROBLEMS):
        for title, problem in PROBLEMS[name]:
            runs = [problem(seed) for seed in range(options.seeds)]
            median = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
            by_hand = f"{median['by hand']:.4f}" if "by hand" in median else "-"
            gain = median["tables"] / median["right shape"]
            figures = [f"{median['tables']:.4f}", f"{median['right shape']:.4f}", by_hand]
            lines.append([title, *figures, f"{gain:.1f}"])
            print(lines[-1], flush=True)
    if lines:
        print(TextTable(["median KL", "tables", "right shape", "by hand", "gain"], lines, left=1))
    if "exact" in options.problems:
        exact(options.seeds)
    if "coverage" in options.problems:
        coverage(options.tables)
    if "kinds" in options.problems:
        kinds(options.tables)
    if "time" in options.problems:
        times()
    if "size" in options.problems:
        size()


if __name__ == "__main__":
    main()
