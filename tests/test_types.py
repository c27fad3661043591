"""What a type checker says of a user's script."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import lacunet

SCRIPT = """
import pandas as pd
import lacunet as lc

rows = pd.DataFrame({"smoke": ["yes", None]})
result = lc.learn("asia", lc.Data(rows), method="em", restarts=2, intervals=True)
answer = result.query("lung | smoke=yes")
"""
REVEALED = {
    "result": "lacunet.learning.result.Result",
    "answer": "lacunet.inference.answer.Answer",
    'answer["yes"]': "float",
    "result.predict(rows, 'lung')": "pandas.core.frame.DataFrame",
    "result.network.predict(rows, 'lung')": "pandas.core.frame.DataFrame",
    "result.impute(rows)": "pandas.core.frame.DataFrame",
    "result.impute(rows, draws=5)": "list[pandas.core.frame.DataFrame]",
    "result.marginals()['lung']['yes']": "float",
    "result.log_likelihood(rows)": "float",
    "result.effect('lung', do='smoke')": "lacunet.ask.effect.Effect",
    "result.families['lung']": "lacunet.learning.family_reports.FamilyReport",
    "lc.explain('asia').families['lung'].estimand": "str",
    "lc.learn_structure(rows)": "lacunet.structure.learn_structure.LearnedStructure",
    "lc.Deletion('direct', groups=['smoke']).name": "str",
}
REFUSED = [
    'lc.learn("asia", rows, weight="wt")',
    'lc.learn("asia", rows, restart=2)',
    'lc.learn("asia", rows, "em", tolerance="small")',
]


def checked(tmp_path: Path, lines: list[str]) -> list[str]:
    """What mypy says of the lines, one by one."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "\n".join(lines) + "\n")
    source = Path(lacunet.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", str(script)],
        capture_output=True,
        text=True,
        cwd=source.parent,
        env={**os.environ, "MYPYPATH": str(source)},
        check=False,
    )
    said = [line for line in done.stdout.splitlines() if "script.py:" in line]
    return [line for line in said if ": note: Revealed" in line or ": error:" in line]


def test_a_user_s_script_has_real_types(tmp_path: Path) -> None:
    said = checked(tmp_path, [f"reveal_type({text})" for text in REVEALED])
    types = [re.sub(r'.*Revealed type is "(.*)"', r"\1", line) for line in said]
    assert dict(zip(REVEALED, types, strict=True)) == REVEALED


def test_options_that_no_method_has_are_errors_of_types(tmp_path: Path) -> None:
    assert [": error:" in line for line in checked(tmp_path, REFUSED)] == [True] * len(REFUSED)
