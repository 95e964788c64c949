"""The mathematics of Candor: numbers in, numbers out.

Standard library, numpy, scipy and opendp; no Django, clock, logging, files or settings.
`local` is what a browser does and its inverse, `central` what a publication does,
`accounting` what it costs. They know `randomness`, `privacy` and `estimates`, and not
one another. tests/test_floor_plan.py holds the walls.
"""
