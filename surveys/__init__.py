"""Candor: the Django project. Each folder is a room; docs/design.md says where things are."""
