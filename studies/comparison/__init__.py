"""Methods compared on data like the user's: `summary` over draws, `compare` in `parallel`."""
