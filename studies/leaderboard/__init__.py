"""A public comparison: published networks, values hidden, every learner on the same rows.

``python -m studies.leaderboard run RESULTS.csv`` runs what is not in the file yet, and
``python -m studies.leaderboard page RESULTS.csv`` writes studies/pages/leaderboard.md.

`entries/` has one file for each learner; a new file there takes part, with nothing else to change
(`entries/uniform.py` is the shortest). `cases` has what is learned, `run` runs it, `page` writes
about it.
The networks are those of bnRep 0.0.2 by M. Leonelli, re-encoded; see NOTICE.
"""
