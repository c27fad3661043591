"""Running cells: `cells`, `solve`, `pool` (child processes), `journal`, `outcomes`, `run`."""
