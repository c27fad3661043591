"""How far the searches on missingness graphs go before they give up, in one place.

Every limit is a number of things or of steps, never a time: the same question gets the same answer
on every machine. A search that ends at a limit says so ("the search was cut short"), and never
takes its end for a proof.
"""

# Fix and select: samples and scopes (`recover.propensity`, `recover.fix_and_select`).
MAX_MECHANISMS_FOR_ALL_SETS = 6  # beside the needed ones; beyond, sets are grown greedily
MAX_MECHANISMS_FOR_ALL_CHOICES = 8  # the same where several samples are wanted
MAX_FREE_PARENTS = 3  # mechanisms of which one propensity is a function
MAX_ODDS_MECHANISMS = 10  # mechanisms left free: 2^10 tables of odds
MAX_ODDS_SCOPE = 10  # variables of each of these tables
MAX_MECHANISMS_FOR_ALL_PARTS = 4  # of whose subsets each is tried as free; beyond, only all of them
MAX_SCOPE_EXTENSIONS = 8  # variables tried as one more in the scope of odds
MAX_HIDEABLE = 5  # variables outside the query that are tried as hidden, up to two at a time
MAX_TURNED_MECHANISMS = 4  # mechanisms with hidden causes whose orders are tried: 4! at most

# The chain rule (`recover.chain`).
MAX_QUERIES = 1500  # looked at in one search, those that no rule applies to among them
MAX_HELPERS = 6  # variables worth summing over, or taking in and dividing out
MAX_EQUIVALENT_SAMPLES = 5  # that serve one factor as well, for the data to choose from
MAX_OTHER_ESTIMANDS = 8  # of other forms, likewise

# Effects (`recover.effects`).
MAX_ADJUSTMENT_SETS = 12  # tried, the one of all ancestors the last of them
MAX_ADJUSTMENT_SIZE = 3  # variables of each, but for that one
MAX_PROJECTED = 5  # variables outside the query that are tried as hidden, up to two at a time

# Mechanisms as variables (`recover.by_mechanisms`).
MAX_IDLE_VARIABLES = 2  # without effect on the target, that are set
MAX_KEPT_VARIABLES = 3  # partially observed ones that are kept beside those of the query

# An estimand put to random models (`recover.monotone`).
MAX_MODEL_CONFIGURATIONS = 2e5  # of all nodes

# One verdict (`recover.decide`), in steps along edges, times the effort asked for.
MAX_ESTIMAND_STEPS = 8e5  # of the search for an estimand
MAX_MECHANISM_STEPS = 3e5  # of that with mechanisms as variables
MAX_CHOICE_STEPS = 4e6  # for other estimands and samples, once data are to choose
MAX_WITNESS_STATES = 10  # of a variable that hides itself, in the two models that show it

# The search for two models that look the same (`refute.submodels`, `refute.witness`), in rough
# operations.
MAX_SUBMODEL_WORK = 1e7  # of one submodel; larger ones are left out
MAX_REFUTING_WORK = 1e8  # for one query, times the effort asked for
MIN_SUBMODEL_WORK = 1e5  # that every submodel counts for, however small
MAX_SUBMODEL_VARIABLES = 4
MAX_NEAR_VARIABLES = 6  # beside those of the query, that submodels are made of

# What a graph implies (`implications`): the conditions that are tried for each pair of nodes.
MAX_CONDITIONS = 3  # at once, but for all parents of one node, or of both
MAX_PARENTS_TRIED = 6  # of both nodes, of which these are taken
