"""Catalogues of the form's words for tests: a language that nobody speaks, made of English."""

import functools
from io import BytesIO

from babel.messages.pofile import write_po

from surveys import catalogues, languages

PSEUDO = "qps"  # of those that stand for no language
TWO = "nplurals=2; plural=(n != 1);"
# of languages that do not come with the site
WELSH = "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n==3 ? 3 : n==6 ? 4 : 5);"
HEBREW = "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);"


@functools.cache
def po(tag: str = PSEUDO, plural: str = TWO) -> bytes:
    """Return a whole catalogue that says each sentence in brackets."""
    made = catalogues.read((languages.FOLDER / "en.po").read_bytes())
    made.mime_headers = [("Language", tag), ("Plural-Forms", plural)]
    for message in made:
        if message.pluralizable:
            last = f"⟦{message.id[1]}⟧"
            message.string = tuple(f"{last}{at}" for at in range(made.num_plurals))
        elif message.id:
            message.string = f"⟦{message.id}⟧"
    file = BytesIO()
    write_po(file, made, width=0)
    told = file.getvalue().decode()
    if "Plural-Forms" not in told:  # of a language that Babel does not know
        told = told.replace('"MIME-Version', f'"Plural-Forms: {plural}\\n"\n"MIME-Version', 1)
    return told.encode()
