r"""Dense networks for imputation: every variable is a child of all that come before it.

An analysis of completed rows asks about pairs of variables that nobody named beforehand. A network
that is learned for its structure has no edge where the rows do not insist on one; completions drawn
from it lack what is weak, and regressions on them are biased towards nothing. Here no edge is left
out: the variables stand in a line, and the CPT of each is a log-linear model of all before it, in
which an effect costs as little as one parameter and is shrunk as far as the rows ask for. No table
of parent configurations is ever made: probabilities are computed row by row.

Read `scales` (how a variable enters), `log_linear` (the CPT: its fit, its shrinkage, a draw of its
parameters), `residual_tables` (associations that are not smooth), `augmentation` (how parameters
and missing cells are drawn in turn), `cut_points` (intervals of numbers), then `dense_network` (all
CPTs together). What users have is `lacunet.learning.imputation_model`.
"""
