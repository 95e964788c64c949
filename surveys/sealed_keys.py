"""Keys that stand in the database sealed under PUBLICATION_KEYS: of receipts, of tickets, of lists.

Without PUBLICATION_KEYS the database tells nothing that one of them keeps.
"""

from typing import ClassVar

from django.db import models

from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import erasing

AT_ONCE = 500  # rows changed in one statement


class SealedKey(models.Model):
    """A table of keys; one that is destroyed and whose row stays is empty."""

    opens: ClassVar[str]  # what these are keys of, as `doctor` and `rotate_keys` say it
    sealed = models.BinaryField()

    class Meta:
        abstract = True

    @property
    def about(self) -> str:
        """Return the associated data of this key: public, and bound to what it opens."""
        raise NotImplementedError

    def opened(self) -> bytes:
        return open_sealed(bytes(self.sealed), about=self.about)


def open_all(kind: type[SealedKey]) -> int:
    """Open every key of a table, and return how many there are, or raise CannotOpen."""
    return len([key.opened() for key in _all(kind)])


def seal_anew(kind: type[SealedKey]) -> int:
    """Seal with the first of PUBLICATION_KEYS what another one had sealed, and erase how it was;
    return how many. May raise InUse.
    """
    with erasing(**{kind._meta.db_table: "sealed"}):
        old = [key for key in _all(kind) if not has_first_key(bytes(key.sealed))]
        for key in old:
            key.sealed = seal(key.opened(), about=key.about)
        kind._default_manager.bulk_update(old, ["sealed"], batch_size=AT_ONCE)
    return len(old)


def _all(kind: type[SealedKey]) -> models.QuerySet[SealedKey]:
    return kind._default_manager.exclude(sealed=b"").select_related()
