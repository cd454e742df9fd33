"""The measures of the house find what they are said to find."""

import ast
import sys

from unshuffle.text.split import split_sentences
from unshuffle_research import house


def test_functions_of_the_product_are_counted_and_no_others() -> None:
    entered = house.Entered()
    with entered.watching():
        sorted([3, 1])
        ast.parse("1")
        split_sentences("One. Two.")
    assert any(name == "split_sentences" for _, name in entered.functions)
    assert {file for file, _ in entered.functions} <= {str(path) for path in house.PRODUCT.rglob("*.py")}
    assert "split_sentences" in entered.by_file()["text/split.py"]
    assert sys.getprofile() is None


def test_questions_about_parts_are_found_in_every_form() -> None:
    code = """
from unshuffle.decode.pair_matrix import PairMatrix
from unshuffle.encoders.pretrained import loading as pretrained
from unshuffle.decode.contracts import Gold
isinstance(a, PairMatrix)
isinstance(b, pretrained.PretrainedConfig | str)
isinstance(c, Gold)
isinstance(d, str)
match e:
    case PairMatrix(): pass
"""
    tree = ast.parse(code)
    parts = house.imported_parts(tree)
    assert parts == {"PairMatrix", "pretrained"}
    assert sum(bool(house.asked_classes(node) & parts) for node in ast.walk(tree)) == 3
