"""Parts that can take each other's place, chosen by the `kind` field of their configuration."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from unshuffle.errors import ConfigError
from unshuffle.parts.config import PartConfig
from unshuffle.parts.installed import load_installed_parts

Part = TypeVar("Part")


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name, or the list of what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(wrong, names, n=1)
    return f" Did you mean '{close[0]}'?" if close else f" Known: {', '.join(names)}."


def validated(where: str, config: type, options: dict[str, Any]) -> Any:
    """Options as an instance of a frozen config dataclass; a wrong one is named with its place."""
    _refuse_unknown(where, config, options)
    try:
        return TypeAdapter(config).validate_python(options)
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ".".join(str(step) for step in wrong["loc"])
        raise ConfigError(f"{where}.{field}: {wrong['msg']}.") from None


def _refuse_unknown(where: str, config: type, options: Mapping[str, Any]) -> None:
    """Pydantic passes over names that a plain dataclass does not have, also in tables within tables."""
    if not isinstance(options, Mapping):
        raise ConfigError(f"{where}: expected a table of options, found {options!r}.")
    kinds = get_type_hints(config)
    known = list(getattr(config, "__dataclass_fields__", {}))
    for name, value in options.items():
        if name not in known:
            raise ConfigError(f"{where}.{name}: there is no such option.{did_you_mean(str(name), known)}")
        for kind in (kinds[name], *get_args(kinds[name])):
            if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping):
                _refuse_unknown(f"{where}.{name}", kind, value)


class Registry(Generic[Part]):
    """Turns `{"kind": "grn", "steps": 2}` into a config, and a config into its module."""

    def __init__(self, slot: str, part: type[Part] | None = None, config: type[PartConfig] | None = None) -> None:
        """`part`, `config`: what every part of the slot and its configuration must inherit from."""
        self.slot = slot
        self._bases: tuple[type, type] = part or object, config or object
        self._parts: dict[str, tuple[type, type[Part]]] = {}

    def register(self, kind: str, config: type) -> Callable[[type[Part]], type[Part]]:
        """Class decorator: this part is built from that config under this name."""

        def add(part: type[Part]) -> type[Part]:
            for made, base in zip((part, config), self._bases, strict=True):
                if not issubclass(made, base):
                    raise TypeError(f"{self.slot} '{kind}': {made.__name__} must inherit from {base.__name__}.")
            if kind in self._parts and (taken := self._parts[kind][1]) is not part:
                owner = f"{taken.__module__}.{taken.__qualname__}"
                raise ConfigError(f"{self.slot} has a kind '{kind}' already: {owner}. Choose another name.")
            self._parts[kind] = config, part
            return part

        return add

    def kinds(self) -> list[str]:
        """The names a configuration may use."""
        return sorted(self._parts)

    def read(self, options: dict[str, Any]) -> Any:
        """`{"kind": "grn", "steps": 2}` -> GRNConfig(steps=2); an unknown kind may be another installed package's."""
        options = dict(options)
        kind = str(options.pop("kind", ""))
        if kind and kind not in self._parts:
            load_installed_parts()
        if kind not in self._parts:
            raise ConfigError(f"{self.slot} has no kind '{kind}'.{did_you_mean(kind, self._parts)}")
        return validated(self.slot, self._parts[kind][0], options)

    def write(self, config: Any) -> dict[str, Any]:
        """The reverse of `read`."""
        return {"kind": self.kind(config), **asdict(config)}

    def kind(self, config: Any) -> str:
        """The name under which a config's part is registered."""
        return next(kind for kind, (known, _) in self._parts.items() if known is type(config))

    def part(self, config: Any) -> type[Part]:
        """The class that is built from this config."""
        return self._parts[self.kind(config)][1]

    def build(self, config: Any, **sizes: Any) -> Part:
        """The module of a config; sizes come from its neighbours."""
        part: Any = self.part(config)
        built: Part = part(config, **sizes)
        return built
