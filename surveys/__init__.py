"""Candor: the Django project. Each folder is a room; docs/design.md draws the house."""

from surveys.celery import app as celery_app

__all__ = ["celery_app"]
