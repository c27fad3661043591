"""Who completes the tables: lacunet, R's mice, and two yardsticks."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pandas as pd

import lacunet as lc
from lacunet.errors import LacunetError
from lacunet.sklearn import BayesianNetworkImputer

Completed = tuple[list[pd.DataFrame], float]  # the tables, and the processor seconds they took
Rival = Callable[[pd.DataFrame, Sequence[str], int, int], Completed]

HERE = Path(__file__).parent


def lacunet_dense(*, proper: bool) -> Rival:
    """A dense network; one draw of parameters for each table, or all tables by the mean ones."""

    def completed(rows: pd.DataFrame, numbers: Sequence[str], draws: int, seed: int) -> Completed:  # noqa: ARG001
        began = process_time()
        model = lc.learn_structure(rows, purpose="imputation", rng=seed)
        tables = model.impute(rows, draws=draws, proper=proper, rng=seed)
        return tables, process_time() - began

    return completed


def lacunet_sparse(rows: pd.DataFrame, numbers: Sequence[str], draws: int, seed: int) -> Completed:
    """The network that is most probable, its CPTs by EM, and draws."""
    began = process_time()
    data = lc.Data(rows, bins=5 if numbers else None)
    found = lc.learn_structure(data, strengths=0, rng=seed)
    result = lc.learn(found.network, data, intervals=True, rng=seed)
    tables = result.impute(rows, draws=draws, rng=seed)
    return tables, process_time() - began


def likeliest_dense(
    rows: pd.DataFrame,
    numbers: Sequence[str],  # noqa: ARG001
    draws: int,  # noqa: ARG001
    seed: int,
) -> Completed:
    """The likeliest state of each missing cell, by a dense network."""
    began = process_time()
    model = lc.learn_structure(rows, purpose="imputation", rng=seed)
    return [model.impute(rows, how="most probable")], process_time() - began


def likeliest_sparse(
    rows: pd.DataFrame,
    numbers: Sequence[str],
    draws: int,  # noqa: ARG001
    seed: int,
) -> Completed:
    """The most probable completion of each row, by the network that is most probable."""
    began = process_time()
    data = lc.Data(rows, bins=5 if numbers else None)
    network = lc.learn_structure(data, strengths=0, rng=seed).network
    return [network.impute(rows, how="most probable")], process_time() - began


def likeliest_by_tree(
    rows: pd.DataFrame,
    numbers: Sequence[str],  # noqa: ARG001
    draws: int,  # noqa: ARG001
    seed: int,  # noqa: ARG001
) -> Completed:
    """The most probable completion of each row, by a tree."""
    began = process_time()
    imputer = BayesianNetworkImputer("tree", sample_posterior=False).set_output(transform="pandas")
    return [imputer.fit_transform(rows)], process_time() - began


def mice(method: str) -> Rival:
    """R's mice with one method for all columns, or its defaults."""

    def completed(rows: pd.DataFrame, numbers: Sequence[str], draws: int, seed: int) -> Completed:
        if shutil.which("Rscript") is None:
            raise LacunetError("there is no R here.", "apt-get install r-cran-mice")
        with TemporaryDirectory() as folder:
            prefix = f"{folder}/drawn"
            rows.to_csv(f"{folder}/rows.csv", index=False)
            names = ",".join(numbers) or "-"
            command = ["Rscript", str(HERE / "mice.R"), f"{folder}/rows.csv", prefix, method]
            command += [str(draws), str(seed + 1), names]
            alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            ended = subprocess.run(command, capture_output=True, text=True, env=alone, check=False)
            if ended.returncode:
                raise LacunetError(f"mice ended with: {ended.stderr.strip()[-500:]}")
            tables = []
            for draw in range(1, draws + 1):
                whole = pd.read_csv(f"{prefix}{draw}.csv", dtype=str, keep_default_na=False)
                whole = whole.mask(whole == "")
                for name in numbers:
                    whole[name] = whole[name].astype(float)
                tables.append(whole)
        return tables, float(ended.stdout.split()[-1])

    return completed


def margin(rows: pd.DataFrame, numbers: Sequence[str], draws: int, seed: int) -> Completed:  # noqa: ARG001
    """Each hidden cell drawn from the cells that its column shows."""
    rng, began = np.random.default_rng([seed, 3]), process_time()
    tables = []
    for _ in range(draws):
        whole = rows.copy()
        for name in rows.columns:
            is_hidden = rows[name].isna().to_numpy()
            shown = rows[name][~is_hidden].to_numpy()
            whole.loc[is_hidden, name] = rng.choice(shown, is_hidden.sum())
        tables.append(whole)
    return tables, process_time() - began


def complete_rows(rows: pd.DataFrame, numbers: Sequence[str], draws: int, seed: int) -> Completed:  # noqa: ARG001
    """The rows without holes."""
    return [rows.dropna()], 0.0


RIVALS: dict[str, Rival] = {
    "lacunet": lacunet_dense(proper=False),
    "lacunet proper": lacunet_dense(proper=True),
    "lacunet sparse": lacunet_sparse,
    "mice cart": mice("cart"),
    "mice default": mice("default"),
    "margin": margin,
    "complete rows": complete_rows,
}
LIKELIEST: dict[str, Rival] = {
    "lacunet likeliest": likeliest_dense,
    "sparse likeliest": likeliest_sparse,
    "tree likeliest": likeliest_by_tree,
}


def warm_up() -> None:
    """Let all be imported before time is taken."""
    rows = pd.DataFrame({"A": ["a", "b", None] * 20, "B": [1.5, None, 2.5] * 20})
    for name in ("lacunet", "lacunet sparse"):
        quietly(RIVALS[name], rows, ("B",), 2, 0)


def quietly(
    rival: Rival, rows: pd.DataFrame, numbers: Sequence[str], draws: int, seed: int
) -> Completed:
    """What a rival makes of rows, its warnings unsaid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rival(rows, numbers, draws, seed)
