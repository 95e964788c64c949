"""The pages of a draft."""
