"""What must be quick: help, and importing the package."""

import subprocess
import sys

import pytest

HEAVY = "{'torch', 'spacy', 'matplotlib', 'pyarrow', 'transformers', 'lightning_fabric'}"


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


@pytest.mark.parametrize("arguments", ["--help", "--version", "order --help", "serve --help", "fine-tune --help"])
def test_help_imports_nothing_heavy(arguments: str) -> None:
    shown = python(
        f"import sys; sys.argv = ['unshuffle', *{arguments.split()}]\n"
        "from unshuffle.cli import main\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert left.code == 0\n"
        f"assert not {HEAVY} & set(sys.modules), {HEAVY} & set(sys.modules)"
    )
    assert "unshuffle" in shown


def test_listing_the_systems_imports_nothing_heavy() -> None:
    shown = python(
        "import sys; sys.argv = ['unshuffle', 'systems', '--format', 'json']\n"
        "from unshuffle.cli import main\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert left.code == 0\n"
        f"assert not {HEAVY} & set(sys.modules), {HEAVY} & set(sys.modules)"
    )
    assert "irse-grn" in shown


def test_importing_the_package_imports_nothing_heavy() -> None:
    python(f"import sys, unshuffle; unshuffle.Document; dir(unshuffle); assert not {HEAVY} & set(sys.modules)")


def test_the_package_shows_its_public_names() -> None:
    import unshuffle

    for name in unshuffle.__all__:
        found = getattr(unshuffle, name)
        assert name in dir(unshuffle) and (name == "__version__" or found.__name__ == name)
    with pytest.raises(AttributeError, match="nothing"):
        _ = unshuffle.nothing
