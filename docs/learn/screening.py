"""A screening test, and the patients whose disease was never verified."""

import numpy as np
import pandas as pd

import lacunet as lc

network = lc.Network(
    {
        "Age": ["under 50", "50 and over"],
        "Disease": ["no", "yes"],
        "Symptoms": ["no", "yes"],
        "Test": ["negative", "positive"],
    },
    {"Disease": ["Age"], "Symptoms": ["Disease"], "Test": ["Disease"]},
    {
        "Age": [0.6, 0.4],
        "Disease": [[0.95, 0.05], [0.8, 0.2]],
        "Symptoms": [[0.9, 0.1], [0.4, 0.6]],
        "Test": [[0.9, 0.1], [0.25, 0.75]],
    },
)


def everybody(rows: int = 20_000, seed: int = 1) -> pd.DataFrame:
    """What nobody ever sees: the whole truth about each patient."""
    rng = np.random.default_rng(seed)

    def draw(variable: str, *parents: np.ndarray) -> np.ndarray:
        chance = network.cpt(variable).table[(*parents, 1)]
        return (rng.random(rows) < chance).astype(int)

    age = draw("Age")
    disease = draw("Disease", age)
    codes = {
        "Age": age,
        "Disease": disease,
        "Symptoms": draw("Symptoms", disease),
        "Test": draw("Test", disease),
    }
    return pd.DataFrame({name: np.array(network.states(name))[c] for name, c in codes.items()})


def hide(frame: pd.DataFrame, chance: np.ndarray, seed: int = 2) -> pd.DataFrame:
    """The same patients, Disease missing with the given chance for each of them."""
    rng = np.random.default_rng(seed)
    shown = frame["Disease"].astype(object)
    return frame.assign(Disease=shown.where(rng.random(len(frame)) >= chance, None))


def patients(rows: int = 20_000, seed: int = 1) -> pd.DataFrame:
    """What the clinic has: verified are mostly patients with symptoms or a positive test."""
    frame = everybody(rows, seed)
    symptoms, positive = frame["Symptoms"] == "yes", frame["Test"] == "positive"
    chance = np.select([symptoms & positive, positive, symptoms], [0.05, 0.2, 0.5], 0.95)
    return hide(frame, chance, seed + 1)
