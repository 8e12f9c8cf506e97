"""How every bundled table is computed from genuine files: one module per paper, a recipe per table."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
