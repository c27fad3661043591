"""The public face: what `lacunet` lists, and that importing it stays cheap."""

import subprocess
import sys

import lacunet


def test_every_public_name_can_be_used() -> None:
    assert len(lacunet.__all__) <= 25
    assert sorted(lacunet.__all__) == sorted(lacunet._HOME_OF)
    for name in lacunet.__all__:
        assert getattr(lacunet, name).__name__ == name
        assert name in dir(lacunet)


def test_importing_loads_no_heavy_library() -> None:
    heavy = "{'numpy', 'scipy', 'pyarrow', 'pandas', 'networkx', 'narwhals', 'polars', 'duckdb'}"
    code = f"import lacunet, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_learning_loads_only_what_it_needs() -> None:
    code = (
        "import lacunet as lc, sys; "
        "lc.learn(lc.Network({'A': ['0', '1']}), {'A': ['0', None]}); "
        "print(sorted({'pandas', 'polars', 'duckdb', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
