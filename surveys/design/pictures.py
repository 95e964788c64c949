"""Take a picture: only its pixels are kept, and nothing that a camera writes beside them."""

import hashlib
import struct
import threading
from io import BytesIO
from typing import IO

from django.utils.translation import gettext as _
from PIL import Image, ImageOps

from surveys.design.models import Picture
from surveys.design.refusals import Refused

MAX_UPLOAD = 8 * 2**20  # bytes
MAX_BYTES = 200 * 2**10  # that a phone fetches before question one
MAX_PIXELS = 40_000_000
MAX_SIDE = 1200
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
drawing = threading.Lock()  # one at a time: each may take some hundred megabytes


def keep_picture(upload: IO[bytes]) -> Picture:
    """Draw an upload anew, small enough for a phone, and keep that; the same picture only once."""
    with drawing:
        image = _drawn_anew(_read(upload))
    content, media_type = _encoded(image)
    picture, _is_new = Picture.objects.get_or_create(
        sha256=hashlib.sha256(content).hexdigest(),
        defaults={
            "media_type": media_type,
            "width": image.width,
            "height": image.height,
            "content": content,
        },
    )
    return picture


def _read(upload: IO[bytes]) -> Image.Image:
    raw = upload.read(MAX_UPLOAD + 1)
    if len(raw) > MAX_UPLOAD:
        raise Refused(_("The picture is larger than 8 MB. Make it smaller, and choose it again."))
    try:
        image = Image.open(BytesIO(raw), formats=FORMATS)
        if image.width * image.height > MAX_PIXELS:
            raise Refused(
                _(
                    "The picture has more than 40 million pixels. Make it smaller, and choose it "
                    "again."
                )
            )
        image.draft(None, (MAX_SIDE, MAX_SIDE))  # a JPEG unpacks at a half or less, if it is large
        image.load()
    except (
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise Refused(
            _("This file cannot be read as a picture: it must be a PNG, JPEG, WebP or GIF.")
        ) from error
    return image


def _drawn_anew(image: Image.Image) -> Image.Image:
    """Return the picture upright, no larger than a phone needs, with nothing but its pixels."""
    # Made smaller before it is copied, unless mixing neighbouring points needs another mode first.
    if image.mode in ("L", "RGB", "RGBA") and "transparency" not in image.info:
        image.thumbnail((MAX_SIDE, MAX_SIDE))
    upright = _upright(image)
    clear = upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info
    pixels = upright.convert("RGBA" if clear else "RGB")
    pixels.thumbnail((MAX_SIDE, MAX_SIDE))
    fresh = Image.new(pixels.mode, pixels.size)
    fresh.paste(pixels)
    return fresh


def _upright(image: Image.Image) -> Image.Image:
    """Turn the picture as its camera says; if what that wrote cannot be read, leave it."""
    try:
        return ImageOps.exif_transpose(image)
    except (OSError, ValueError, TypeError, SyntaxError, struct.error):
        return image


def _encoded(image: Image.Image) -> tuple[bytes, str]:
    """Return its bytes: without loss where that is small enough, else as a photograph."""
    exact = BytesIO()
    image.save(exact, "PNG", optimize=True)
    if exact.tell() <= MAX_BYTES:
        return exact.getvalue(), "image/png"
    for quality in (85, 70, 55, 40, 25):
        lossy = BytesIO()
        image.save(lossy, "WEBP" if image.mode == "RGBA" else "JPEG", quality=quality)
        if lossy.tell() <= MAX_BYTES:
            return lossy.getvalue(), "image/webp" if image.mode == "RGBA" else "image/jpeg"
    raise Refused(
        _(
            "The picture stays too large for a phone. Make it smaller or plainer, and choose it "
            "again."
        )
    )
