"""Panels to be completed: one row for each unit, and back to what they came as.

A panel of long rows comes back with a row for each unit and wave, those that nobody had among
them; a wide one with its own columns.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.column_rules import panel_from, source_of_data
from lacunet.data.data import Data
from lacunet.data.original_tables import as_library_of
from lacunet.data.panels import LongPanel, Panel, WidePanel, in_waves, joined, whole_columns
from lacunet.network.waves import in_time, wave_name

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class UnitRows:
    """A panel as an Arrow table of units, with a column for each variable in each wave."""

    data: Data  # that table, and what is said of its columns
    panel: Panel
    came_as: Any  # the frame that the panel was given in; anything else for files

    @classmethod
    def of(cls, data: Data, variables: Collection[str]) -> UnitRows:
        """The rows of a panel, as a network of these variables wants them."""
        import pyarrow as pa

        panel = panel_from(data)
        source = source_of_data(data)
        if isinstance(panel, LongPanel):
            wanted = {*variables, *data.beside, panel.unit}
            names = [name for name in source.columns if name in wanted]
        else:
            names = list(source.columns)
        table = pa.table(whole_columns(source, list(dict.fromkeys(names))))
        plain = replace(
            in_waves(data, panel, variables),
            source=table,
            query=None,
            database=None,
            unit=None,
            time=None,
            waves=None,
        )
        return cls(plain, panel, data.source)

    def given_back(self, completed: pa.Table) -> Any:
        """A completed table of units as the panel came, in the library of its frame."""
        if isinstance(self.panel, WidePanel):
            table = _as_wide(completed, self.panel)
        else:
            assert isinstance(self.panel, LongPanel)
            table = _as_long(completed, self.panel)
        return as_library_of(table, self.came_as)


def _as_wide(completed: pa.Table, panel: WidePanel) -> pa.Table:
    """The columns of waves under their own names; a wave that had none has a new one."""
    name_of = {}
    for variable, columns in panel.columns_of.items():
        for wave, column in zip(panel.waves, columns, strict=True):
            name_of[wave_name(variable, wave)] = column or wave_name(variable, wave)
    table = completed.rename_columns([name_of.get(n, n) for n in completed.column_names])
    order = [name for name in panel.rows.columns if name in table.column_names]
    return table.select([*order, *(n for n in table.column_names if n not in order)])


def _as_long(completed: pa.Table, panel: LongPanel) -> pa.Table:
    """A row for each unit and wave, unit by unit."""
    import pyarrow as pa

    row_at = panel.row_at
    waves = list(panel.waves)
    units = len(row_at)
    rows = row_at.ravel()
    unit = np.repeat(np.arange(units), len(waves))
    wave = np.tile(np.arange(len(waves)), units)
    whole = whole_columns(panel.rows, list(panel.rows.columns))
    columns: dict[str, Any] = {}
    for name in panel.rows.columns:
        if name == panel.time:
            columns[name] = _waves_as_written(whole[name], row_at, waves).take(pa.array(wave))
        elif name in completed.column_names:
            columns[name] = completed[name].combine_chunks().take(pa.array(unit))
        elif any(wave_name(name, number) in completed.column_names for number in waves):
            by_wave = []
            for index, number in enumerate(waves):
                node = wave_name(name, number)
                if node in completed.column_names:
                    by_wave.append(completed[node].combine_chunks())
                else:  # no variable of the network: as it came
                    by_wave.append(whole[name].take(_present(row_at[:, index])))
            columns[name] = joined(by_wave).take(pa.array(wave * units + unit))
        else:
            columns[name] = whole[name].take(_present(rows))
    new = [n for n in completed.column_names if in_time(n).wave is None and n not in columns]
    return pa.table(columns | {n: completed[n].combine_chunks().take(pa.array(unit)) for n in new})


def _present(rows: NDArray[np.int64]) -> pa.Array:
    """Rows to take; null where there is none."""
    import pyarrow as pa

    return pa.array(rows, mask=rows < 0)


def _waves_as_written(column: pa.Array, row_at: NDArray[np.int64], waves: list[int]) -> pa.Array:
    """The value of each wave in the column that names it; of one that no row is of, its number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first = row_at.max(axis=0)
    written = column.take(_present(first))
    if written.null_count == 0:
        return written
    kind = written.type.value_type if pa.types.is_dictionary(written.type) else written.type
    numbers = pa.array(waves) if pa.types.is_integer(kind) or pa.types.is_floating(kind) else None
    plain = written.cast(kind)
    whole = pa.array(list(map(str, waves))) if numbers is None else numbers
    return pc.coalesce(plain, whole.cast(kind))
