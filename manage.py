#!/usr/bin/env python
"""Django's command line for Candor."""

import base64
import os
import sys

COMPUTE_ONLY = {"analyse", "plan-size"}  # they need no key, so none is made for them

if __name__ == "__main__":
    if sys.argv[1:2] == ["issuer"]:  # which has few applications, and a database of its own
        os.environ["DJANGO_SETTINGS_MODULE"] = "surveys.issuer.site"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
    if COMPUTE_ONLY.intersection(sys.argv[1:2]) and not os.environ.get("SECRET_KEY"):
        os.environ["SECRET_KEY"] = "nothing is signed"  # noqa: S105
        os.environ["PUBLICATION_KEYS"] = base64.b64encode(
            b"nothing is encrypted either, yet"
        ).decode()
    if COMPUTE_ONLY.intersection(sys.argv[1:2]):
        for stream in (sys.stdout, sys.stderr):  # they print ε and −, which not every terminal has
            stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:] == ["up"]:  # which needs none of Django's applications itself
        from surveys.operations.up import main
    else:
        from django.core.management import execute_from_command_line as main
    try:
        main()
    except Exception as error:
        if type(error).__module__ == "django.db.utils":  # of the database
            from surveys.tables import exit_if_older

            exit_if_older()
        raise
