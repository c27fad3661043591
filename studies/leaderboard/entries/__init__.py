"""One file for each learner of the leaderboard."""
