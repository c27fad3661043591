"""The E-step: expected counts of compiled problems, exactly.

Read `structure` (the steps that eliminate a component), `messages` (equal sub-expressions once),
`shards` and `groups` (laid out in arrays), `plan` (within a budget), then `expect`, the step
itself; `forecast` says what it will cost; `draw` gives posteriors, draws and best completions.
"""
