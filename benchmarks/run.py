"""All benchmarks, one after the other, each in a process of its own: ``make bench``."""

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("startup.py", "counting.py", "whole_runs.py", "em.py", "em_optimum.py")

for script in SCRIPTS:
    subprocess.run([sys.executable, str(Path(__file__).parent / script)], check=True)
