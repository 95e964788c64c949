"""`manage.py plan-size` is `dpengine plan-size`. A command's name is its file's, so this one has a
hyphen.
"""

from dpengine.cli.commands import PLAN_SIZE
from surveys.planning.alias import Alias


class Command(Alias):
    command = PLAN_SIZE
