"""Incomplete tables that come with the package; where they are from is in NOTICE."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from lacunet.data.errors import DataError
from lacunet.network.arguments import clear_arguments

if TYPE_CHECKING:
    import pyarrow as pa

EXAMPLE_NAMES = ("carcinoma", "cholesterol", "election", "muscatine", "nhanes", "screening")


@clear_arguments
def example_data(name: str) -> pa.Table:
    """A bundled table, as an Arrow table; ``.to_pandas()`` makes a pandas frame of it.

    Parameters
    ----------
    name
        ``"nhanes"``: 8,366 persons and 20 answers of the US health survey of 2017-2018, with
        questions that were skipped and refused. ``"muscatine"``: whether 4,856 children were
        obese in three surveys, as counts in the column ``Count``. ``"screening"``: 50,000
        simulated patients with age, symptoms and test result; whether they have the disease was
        verified for some. They are drawn from ``lacunet.example("screening")``. ``"cholesterol"``:
        8,591 persons of the US health survey of 2009-2010 with sampling weights, strata and
        sampled units; their answers are numbers, as they were coded. ``"carcinoma"``: whether each
        of seven pathologists, A to G, saw a carcinoma on each of 118 slides. ``"election"``: how
        well twelve traits describe the two candidates of the US election of 2000, as 1,785 voters
        answered, some of them not all.

    Examples
    --------
    >>> example_data("muscatine").column_names
    ['Sex', 'Age', 'Obese1', 'Obese2', 'Obese3', 'Count']
    """
    from pyarrow import parquet

    if name not in EXAMPLE_NAMES:
        raise DataError(
            f"no bundled table is called {name!r}.",
            f"the bundled tables are {', '.join(EXAMPLE_NAMES)}.",
        )
    with as_file(files("lacunet.data.bundled") / f"{name}.parquet") as path:
        return parquet.read_table(path)
