"""Set ε by what it does: odds, beliefs, precision; caps, floors and ceilings."""
