"""Sealed texts: under which key, for what, and what happens when one byte is not as it was."""

import hashlib

import pytest

from surveys import encryption
from surveys.encryption import CannotOpen, has_first_key, open_sealed, seal

OLD, NEW = (hashlib.sha256(name).digest() for name in (b"old", b"new"))
TEXT = b"918273645"


@pytest.fixture(autouse=True)
def keys(settings):
    settings.PUBLICATION_KEYS = (OLD,)
    return settings


def test_what_was_sealed_opens_for_what_it_was_sealed_for_only():
    sealed = seal(TEXT, about="batch 1")
    assert open_sealed(sealed, about="batch 1") == TEXT
    with pytest.raises(CannotOpen, match="batch 2: expected what was sealed for it"):
        open_sealed(sealed, about="batch 2")


def test_the_same_text_is_never_sealed_the_same_way_twice():
    assert len({seal(TEXT, about="report") for _ in range(100)}) == 100


def test_a_sealed_text_is_36_bytes_longer_and_holds_neither_text_nor_key():
    sealed = seal(TEXT, about="report")
    assert len(sealed) == len(TEXT) + encryption.ID + encryption.NONCE + 16
    assert TEXT not in sealed
    assert OLD not in sealed


def test_one_byte_changed_anywhere_is_refused_without_saying_what_was_there():
    sealed = seal(TEXT, about="report")
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(CannotOpen) as refusal:
            open_sealed(bytes(changed), about="report")
        assert TEXT.decode() not in str(refusal.value)


def test_what_was_cut_short_is_refused():
    sealed = seal(TEXT, about="report")
    for length in range(len(sealed)):
        with pytest.raises(CannotOpen):
            open_sealed(sealed[:length], about="report")


@pytest.mark.parametrize("sealed", [b"", b"short", bytes(20)])
def test_what_is_no_sealed_text_is_refused(sealed):
    assert not has_first_key(sealed)
    with pytest.raises(CannotOpen):
        open_sealed(sealed, about="report")


def test_the_first_key_seals_and_all_open(keys):
    sealed = seal(TEXT, about="report")
    keys.PUBLICATION_KEYS = (NEW, OLD)
    assert open_sealed(sealed, about="report") == TEXT
    assert not has_first_key(sealed)
    assert has_first_key(seal(TEXT, about="report"))


def test_it_is_aes_256_in_galois_counter_mode_with_the_purpose_as_associated_data():
    """Opened by hand, from the layout alone."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    sealed = seal(TEXT, about="report")
    assert sealed[:8] == hashlib.sha256(b"candor publication key" + OLD).digest()[:8]
    assert AESGCM(OLD).decrypt(sealed[8:20], sealed[20:], b"report") == TEXT


def test_no_key_is_made_of_djangos(settings):
    assert settings.SECRET_KEY.encode() not in b"".join(settings.PUBLICATION_KEYS)


def test_the_key_of_a_data_folder_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    from surveys.settings import made_once

    path = tmp_path / "new" / "publication.key"
    assert made_once(path, "first") == made_once(path, "second") == "first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["publication.key"]
