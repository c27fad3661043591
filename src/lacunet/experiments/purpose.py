"""A folder keeps the results of one study; what would mix with them is refused.

Tables average over the repetitions of a place. That is a mean of like things only if they come
from one study, one seed, one number of test rows, and one network of each name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lacunet.experiments.errors import ExperimentError
from lacunet.experiments.studies import Study

FILE = "study.json"


def keep_to_purpose(study: Study, folder: Path) -> None:
    """Note what the folder is for, or refuse a study that is not what it is for."""
    kept = _kept(folder)
    networks: dict[str, str] = dict(kept.get("networks", {}))
    for source in study.networks:
        if networks.setdefault(source.name, source.key) != source.key:
            raise ExperimentError.another_network(folder, source.name)
    wanted = {"study": study.name, "seed": study.seed, "test_rows": study.test_rows}
    for name, value in wanted.items():
        if kept.get(name, value) != value:
            raise ExperimentError.another_purpose(folder, name, kept[name], value)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps({**wanted, "networks": networks}, indent=1) + "\n")
    except OSError as error:
        raise ExperimentError.folder(folder, error) from None


def _kept(folder: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads((folder / FILE).read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise ExperimentError.broken_line(folder / FILE, 1) from None
    return kept
