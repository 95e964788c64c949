"""Studies to try out, and what the ledger says of them: known wherever it is read."""

from surveys import messages

DEMO = messages.message("the demo")()  # who opened what it made
WHY = messages.message("a demo, to try out: its first answers are public survey data, or made up")()
