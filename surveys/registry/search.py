"""What a reader of the registry looks for."""

from dataclasses import dataclass
from urllib.parse import urlencode

from surveys.registry.studies import RegisteredStudy


@dataclass(frozen=True, slots=True)
class Search:
    """What a reader looks for; an empty part means any."""

    words: str = ""
    state: str = ""
    unit: str = ""
    model: str = ""

    @property
    def narrows(self) -> bool:
        """Tell whether something is looked for that a phone folds away."""
        return bool(self.state or self.unit or self.model)

    @property
    def query(self) -> str:
        """Return what goes before the number of a page in its address."""
        parts = {"q": self.words, "state": self.state, "unit": self.unit, "model": self.model}
        return "".join(f"{urlencode({name: value})}&" for name, value in parts.items() if value)

    def finds(self, study: RegisteredStudy) -> bool:
        """Tell whether title or organisation hold all the words, and the rest is as wanted."""
        text = f"{study.content.title} {study.content.organisation}".casefold()
        wanted = (
            (self.state, study.state),
            (self.unit, study.content.unit),
            (self.model, study.model.value),
        )
        return all(word in text for word in self.words.casefold().split()) and all(
            part in ("", value) for part, value in wanted
        )
