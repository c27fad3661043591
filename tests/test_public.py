"""The public face: what `lacunet` lists, and that importing it stays cheap."""

import subprocess
import sys
from pathlib import Path

import lacunet


def test_every_public_name_can_be_used() -> None:
    assert len(lacunet.__all__) <= 40
    assert sorted(lacunet.__all__) == sorted(lacunet._HOME_OF)
    for name in lacunet.__all__:
        assert getattr(lacunet, name).__name__ == name
        assert name in dir(lacunet)


def test_importing_loads_no_heavy_library() -> None:
    heavy = "{'numpy', 'scipy', 'pyarrow', 'pandas', 'networkx', 'narwhals', 'polars', 'duckdb'}"
    code = f"import lacunet, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_learning_from_a_file_loads_only_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n" + "0,\n,1\n1,1\n" * 100)
    code = (
        "import lacunet as lc, sys; "
        "network = lc.Network({'A': ['0', '1'], 'B': ['0', '1']}); "
        f"lc.learn(network, {str(tmp_path / 'rows.csv')!r}, 'factored-mar'); "
        "print(sorted({'pandas', 'polars', 'duckdb', 'matplotlib', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
