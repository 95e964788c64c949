"""A link as a picture that a phone reads."""

from dataclasses import dataclass
from itertools import groupby

import qrcode

QUIET = 4  # modules of white around a QR code: without them readers do not find it


@dataclass(frozen=True, slots=True)
class QrCode:
    """A QR code as one path of unit squares."""

    path: str
    size: int

    @classmethod
    def of(cls, text: str) -> "QrCode":
        code = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, border=QUIET)
        code.add_data(text)
        matrix = code.get_matrix()
        return cls(" ".join(_runs(matrix)), len(matrix))


def _runs(matrix: list[list[bool]]) -> list[str]:
    """Return the dark modules, neighbours in a row joined, as pieces of an SVG path."""
    pieces = []
    for y, row in enumerate(matrix):
        x = 0
        for is_dark, modules in groupby(row):
            width = len(list(modules))
            if is_dark:
                pieces.append(f"M{x} {y}h{width}v1h-{width}z")
            x += width
    return pieces
