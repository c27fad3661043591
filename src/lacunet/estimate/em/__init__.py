"""EM that reads the data once: `method`, `start`, the `climb`, when to stop (`heldout`)."""
