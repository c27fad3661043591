"""What a simulation hid, for people and for programs."""

from __future__ import annotations

from typing import Any

from lacunet.simulation.simulate import Simulation
from lacunet.text import counted
from lacunet.text_tables import fitting


def simulation_as_data(drawn: Simulation) -> dict[str, Any]:
    """What was hidden, in plain lists and dictionaries."""
    table = drawn.table
    return {
        "rows": table.rows,
        "variables": len(table.variables),
        "missing": {name: table.missing_of[name] for name in table.partially_observed},
        "category": drawn.graph.category() if drawn.mechanisms else None,
        "graph": str(drawn.graph),
    }


def twin_as_data(twin: Any) -> dict[str, Any]:
    """What a twin, an Arrow table, misses; as `simulation_as_data` has it."""
    missing = {name: twin.column(name).null_count for name in twin.column_names}
    return {
        "rows": twin.num_rows,
        "variables": twin.num_columns,
        "missing": {name: number for name, number in missing.items() if number},
        "category": None,
        "graph": "",
    }


def simulation_as_text(data: dict[str, Any]) -> str:
    """The same for people."""
    cells = data["rows"] * data["variables"]
    hidden = sum(data["missing"].values())
    share = hidden / cells if cells else 0.0
    heading = (
        f"{counted(data['rows'], 'row')} of {counted(data['variables'], 'variable')}; {hidden:,} "
        f"of {cells:,} cells ({share:.1%}) are hidden, in "
        f"{counted(len(data['missing']), 'variable')}"
    )
    lines = [fitting(heading)]
    if data["graph"]:
        lines += [f"{data['category']}, by the missingness graph", "", data["graph"]]
    return "\n".join(lines)
