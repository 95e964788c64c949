"""Documents as they are served: in one form each, whatever a browser says it accepts."""

from typing import Any

import yaml
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer


class OneForm(BaseContentNegotiation):
    """Serve a document in the form that its address names."""

    def select_parser(self, _request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, _request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class IndentedJSONRenderer(JSONRenderer):
    def get_indent(self, *args: Any) -> int:
        return 1


class AsciiJSONRenderer(IndentedJSONRenderer):
    ensure_ascii = True


class YAMLRenderer(BaseRenderer):
    media_type = "application/yaml"
    format = "yaml"
    charset = "utf-8"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> str:
        return yaml.dump(data, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=110)


class Dumper(yaml.SafeDumper):
    """Writes the texts of errors too, which are strings of a class of their own."""


Dumper.add_multi_representer(str, Dumper.represent_str)
