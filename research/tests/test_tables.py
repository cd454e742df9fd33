from unshuffle_research.tables.compared import lead
from unshuffle_research.tables.figures import filled, systems


def test_a_table_can_be_cut_to_rows_in_the_order_they_are_named() -> None:
    page = "<!-- figures: systems se-grn irse-grn -->\nold\n<!-- end figures -->\n"
    lines = filled(page).splitlines()
    assert [line.split("`")[1] for line in lines if line.startswith("| `")] == ["se-grn", "irse-grn"]
    assert lines[0] == page.splitlines()[0] and "old" not in lines
    assert len(systems().splitlines()) > len(lines)


def test_a_baseline_that_was_not_trained_is_named_as_missing() -> None:
    _, _, real, missing = lead("irse-grn", "se-grn-relations", "no-such-row").splitlines()
    assert "not trained yet" in missing and "not trained yet" not in real
