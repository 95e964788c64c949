"""Compression for pages that everyone gets alike."""

from django.middleware.gzip import GZipMiddleware
from django.utils.decorators import decorator_from_middleware


class PublicGZip(GZipMiddleware):
    """Without Django's padding of up to 100 bytes: it hides the length of secrets, and these pages hold none."""

    max_random_bytes = 0


gzip_public = decorator_from_middleware(PublicGZip)
