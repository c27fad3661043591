"""Running cells: `solve`, `structures`, `outcomes`, `pool` (child processes), `journal`, `run`."""
