"""What is run: `sources` (networks), `settings`, `learners` (methods), `cells`."""
