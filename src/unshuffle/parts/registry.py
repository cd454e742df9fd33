"""Parts that can take each other's place, chosen by the `kind` field of their configuration."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, is_dataclass
from importlib.metadata import entry_points
from typing import Any, Generic, Self, TypeVar, get_args, get_type_hints

from unshuffle.errors import ConfigError

GROUP = "unshuffle.parts"
"""Each entry point names a module whose import registers parts."""
log = logging.getLogger(__name__)
Part = TypeVar("Part")


class PartConfig:
    """Base of the frozen dataclasses that configure parts; the defaults are those of a part without a source."""

    source: str = ""
    """Where pretrained weights come from; empty where there are none, or where the model folder brings them."""

    def resolved(self) -> Self:
        """The same with everything filled in that the source tells; weights still come from the source."""
        return self

    def detached(self) -> Self:
        """The same without its source, as a model folder that holds the weights should keep it."""
        return self


def load_installed_parts() -> None:
    """Imports every such module; one that fails is a warning, because another may hold the part that is wanted."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.value
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            log.warning(
                "unshuffle: parts '%s' of %s are left out: they cannot be loaded (%s).", point.name, package, reason
            )


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name, or the list of what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(wrong, names, n=1)
    return f" Did you mean '{close[0]}'?" if close else f" Known: {', '.join(names)}."


def validated(where: str, config: type, options: dict[str, Any]) -> Any:
    """Options as an instance of a frozen config dataclass; a wrong one is named with its path."""
    from pydantic import TypeAdapter, ValidationError  # here: the core without training has no pydantic

    _refuse_unknown(where, config, options)
    try:
        return TypeAdapter(config).validate_python(options)
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ".".join(str(step) for step in wrong["loc"])
        raise ConfigError(f"{where}.{field}: {_in_words(wrong)}") from None


def _in_words(wrong: Mapping[str, Any]) -> str:
    """What pydantic found, without its terms: what is there, and what should be."""
    if wrong["type"] == "missing":
        return "it is missing. Give a value."
    about = wrong.get("ctx", {})
    if wrong["type"] == "value_error":
        reason = str(about.get("error", wrong["msg"]))
        return reason if reason.endswith(".") else f"{reason}."
    bounds = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    bound = next((f"{words} {about[name]}" for name, words in bounds.items() if name in about), None)
    kinds = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text", "tuple": "a list"}
    kind = kinds.get(str(wrong["type"]).split("_")[0])
    wanted = bound or (f"one of {about['expected']}" if "expected" in about else kind)
    if wanted is None:
        return f"it is {wrong.get('input')!r}. {str(wrong['msg']).replace('Input should be', 'Give')}."
    return f"it is {wrong.get('input')!r}. Give {wanted}."


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
