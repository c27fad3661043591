"""What is written about a run: `summary`, `tables`, `contest`, `figures`, `page`, `write`."""
