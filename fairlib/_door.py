"""How a package offers names whose modules are imported only when a name is used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def lazy_names(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names live elsewhere.

    Parameters
    ----------
    package : str
        The name of the package.
    places : mapping of str to str
        Where each name lives: "package.module", or "package.module:name".
    """

    def get_attribute(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")

        module_name, _, name_inside = places[name].partition(":")
        module = import_module(module_name)
        if not name_inside:
            return module
        return getattr(module, name_inside)

    def list_names() -> list[str]:
        return sorted(places)

    return get_attribute, list_names


class _PublicModules(MetaPathFinder, Loader):
    """Lets `import fairlib.bounds` find the module that is called otherwise inside."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        """Return how to load a public name; None for any other module."""
        if fullname not in self.places:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module behind a public name: the same object under both names."""
        module = import_module(self.places[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back; it has been executed before."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def import_under_public_names(places: Mapping[str, str]) -> None:
    """Let `import` find modules under their public names as well.

    Parameters
    ----------
    places : mapping of str to str
        The module behind each public name, both with the name of the package.
    """
    sys.meta_path.append(_PublicModules(places))
