"""What an issuer refuses, and that it is away."""

from surveys.refusals import Refused as Refused


class Away(Exception):
    """An issuer elsewhere that cannot be reached, or does not answer as one."""
