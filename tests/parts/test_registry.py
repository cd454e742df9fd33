"""Parts by name, and what is said of wrong options."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest
from annotated_types import Ge

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import Registry, did_you_mean, validated
from unshuffle.refine.iterative import IterativeConfig


@dataclass(frozen=True, kw_only=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    steps: Annotated[int, Ge(1)] = 3
    inner: Inner = field(default_factory=Inner)
    other: Inner | None = None


class Part:
    def __init__(self, config: Outer, *, width: int = 0) -> None:
        self.config, self.width = config, width


registry: Registry[Part] = Registry("slot")
registry.register("thing", Outer)(Part)


def test_options_become_a_config_and_a_config_its_part() -> None:
    config = registry.read({"kind": "thing", "steps": 2, "inner": {"depth": 5}})
    assert config == Outer(steps=2, inner=Inner(depth=5))
    assert registry.read(registry.write(config)) == config
    part = registry.build(config, width=7)
    assert isinstance(part, Part) and (part.config, part.width) == (config, 7)
    assert registry.kinds() == ["thing"] and registry.kind(config) == "thing"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "thinn"}, "slot has no kind 'thinn'. Did you mean 'thing'?"),
        ({}, "slot has no kind ''. Known: thing."),
        ({"kind": "thing", "stepz": 1}, "slot.stepz: there is no such option. Did you mean 'steps'?"),
        ({"kind": "thing", "inner": {"dept": 1}}, "slot.inner.dept: there is no such option. Did you mean 'depth'?"),
        ({"kind": "thing", "other": {"dept": 1}}, "slot.other.dept: there is no such option. Did you mean 'depth'?"),
        ({"kind": "thing", "steps": 0}, "slot.steps: it is 0. Give at least 1."),
        ({"kind": "thing", "inner": {"depth": "deep"}}, "slot.inner.depth: it is 'deep'. Give a whole number."),
    ],
)
def test_a_wrong_option_is_named_with_its_place(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        registry.read(options)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_tables_within_tables_are_checked_in_the_refiner_too() -> None:
    with pytest.raises(ConfigError, match=r"refiner\.grn\.step: .* Did you mean 'steps'\?"):
        validated("refiner", IterativeConfig, {"grn": {"step": 2}})
    with pytest.raises(ConfigError, match="expected a table"):
        validated("refiner", IterativeConfig, 3)  # type: ignore[arg-type]


def test_a_hint_is_the_nearest_name_or_all_of_them() -> None:
    assert did_you_mean("grm", ["grn", "lstm"]) == " Did you mean 'grn'?"
    assert did_you_mean("zebra", ["grn", "lstm"]) == " Known: grn, lstm."
