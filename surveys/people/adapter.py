"""How allauth behaves here: an admin makes accounts, nobody signs up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth has no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
