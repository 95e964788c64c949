"""Differential privacy for surveys: randomised answers, noisy statistics, exact losses.

Standard library, numpy and scipy, and OpenDP where noise is drawn; no Django, clock, logging,
files or settings but in `cli`. `local` is what a device does and its inverse, `central` what a
publication does, `accounting` what it costs, `inference` what is learned of answers collected
elsewhere. `local`, `central` and `accounting` know `randomness`, `privacy` and `estimates`, and
not one another. tests/test_floor_plan.py holds the walls.
"""

__version__ = "0.9.0"
