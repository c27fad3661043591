"""What is run: `sources` (networks; `generators` makes some up), `settings`, `learners`, `cells`.

Learners are methods.
"""
