"""The benchmarks behind the README's table, each in a process of its own: ``make bench``."""

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("startup.py", "counting.py", "em.py")

for script in SCRIPTS:
    subprocess.run([sys.executable, str(Path(__file__).parent / script)], check=True)
