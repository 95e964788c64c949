import importlib
import sys

import pytest


def test_where_opendp_is_not_installed_its_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "dpengine.central.samplers", raising=False)
    monkeypatch.setitem(sys.modules, "opendp.domains", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'dpengine\[central\]'"):
        importlib.import_module("dpengine.central.samplers")
