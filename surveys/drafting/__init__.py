"""Edit a draft, bring it from a file or take it away in one, launch it."""
