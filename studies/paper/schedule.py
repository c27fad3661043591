"""All that the page on the paper shows, as commands in the order of their worth.

The order is one of priority: what the paper has a number for comes first, then more problems where
the numbers spread most. A run that is stopped early has a whole page, only of fewer problems.
Every command adds to the folder of its study, and what is there is not run again.
"""

from __future__ import annotations

LARGE = "table-large --networks grid-90-20-1-like,water,munin1,barley"
LARGEST = "table-large --networks grid-90-20-1-like,water"
CLOSED = "direct-mcar,factored-mcar,direct-mar,factored-mar"
RESTARTS = "em-10,em-bp-10"
TENTHS = "6,30,60,150,300,1500"  # the paper's limits, and a tenth of each

SCHEDULE = (
    "figure-fire-alarm --repetitions 16,1000000:4",
    # Table 1 and the five of the appendix: two problems up to 10^4 rows, and what EM from random
    # starts has within 25 minutes in Table 1's setting, within five in the other.
    f"{LARGE} --sizes 100,1000,10000 --repetitions 2 --methods {CLOSED},em,complete",
    f"{LARGE} --sizes 100,1000 --settings second --repetitions 1 --methods {RESTARTS}",
    f"{LARGE} --sizes 100,1000 --repetitions 2 --methods {RESTARTS} --limits 60,300",
    # The studies of Alarm, and those beside the paper.
    "figure-alarm --repetitions 8 --sizes 100,1000,10000",
    "table-mcar --repetitions 8,100000:4,1000000:2",
    "table-informed --repetitions 8,100000:4,1000000:2",
    "mnar --repetitions 16,1000000:4",
    f"{LARGE} --sizes 100,1000,10000 --repetitions 2 --methods auto --limits {TENTHS}",
    f"{LARGE} --sizes 10000 --settings second --repetitions 1 --methods {RESTARTS}",
    f"{LARGE} --sizes 10000 --repetitions 2 --methods {RESTARTS} --limits 60,300",
    # 10^5 rows and above.
    f"{LARGE} --sizes 100000 --repetitions 2 --methods {CLOSED},complete",
    f"{LARGEST} --sizes 1000000 --repetitions 2 --methods {CLOSED},complete",
    "figure-alarm --repetitions 8,100000:2,1000000:1",
    "table-large --networks water --sizes 10000000 --settings first --repetitions 1 "
    f"--methods {CLOSED},complete --limits 1500",
    "table-large --networks water --sizes 100000 --settings second --repetitions 1 "
    f"--methods {RESTARTS}",
    f"{LARGE} --sizes 100000 --repetitions 1 --methods em,auto",
    "early-stopping --repetitions 16,1000000:4",
    # More problems where standard errors are widest.
    f"{LARGE} --sizes 100,1000,10000 --repetitions 8 --methods {CLOSED},em,complete",
    f"{LARGE} --sizes 100,1000,10000 --repetitions 8 --methods auto --limits {TENTHS}",
    f"{LARGE} --sizes 100000 --repetitions 4 --methods {CLOSED},complete",
    f"{LARGE} --sizes 100000 --repetitions 2 --methods em,auto --limits 60,300",
    f"{LARGE} --sizes 100000 --repetitions 2 --methods auto --limits {TENTHS}",
    "figure-alarm --repetitions 8,100000:4,1000000:2",
    f"{LARGEST} --sizes 1000000 --repetitions 1 --methods em,auto --limits 60,300",
    f"{LARGE} --sizes 100,1000,10000 --settings first --repetitions 1 --methods {RESTARTS}",
    "table-large --networks water --sizes 100000 --settings first --repetitions 1 "
    f"--methods {RESTARTS}",
    # As many as the paper has.
    "figure-fire-alarm --repetitions 64,1000000:16",
    "table-mcar --repetitions 32,100000:8,1000000:2",
    "table-informed --repetitions 32,100000:8,1000000:2",
    "mnar --repetitions 32,1000000:8",
    "figure-alarm --repetitions 32,100000:4,1000000:2",
    "early-stopping --repetitions 64,1000000:8",
)
