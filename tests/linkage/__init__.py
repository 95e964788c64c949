"""The insider, played: what copies of a site's data tell of whose report is whose.

copies   reads a database as somebody reads it who has the file: rows, their order, their place
joins    every order on the list's side against every order on the reports' side
chance   how many of so many joins are right by chance, exactly
"""
