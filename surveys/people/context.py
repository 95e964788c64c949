"""What every page may say about the site itself."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, bool]:
    """Tell templates whether this is the demo, and whether letters can be sent."""
    return {"demo": settings.CANDOR_DEMO, "email_works": settings.EMAIL_CONFIGURED}
