"""Data sets from the layouts in which people have them; all files here are made up."""

import json
from pathlib import Path

import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.training.corpus import read_splits
from unshuffle_research.experiments.datasets.duc import is_duc, read_duc, sentences_of
from unshuffle_research.experiments.datasets.layouts import format_of, read_abstracts, read_stories, read_vist
from unshuffle_research.experiments.datasets.prepare import prepare
from unshuffle_research.experiments.plan import open_dataset


def vist_file(stories: int) -> str:
    rows = [
        [
            {
                "story_id": str(story),
                "worker_arranged_photo_order": place,
                "original_text": f"Story {story} goes {place} .",
            }
        ]
        for story in range(stories)
        for place in (3, 0, 4, 1, 2)
    ]
    return json.dumps({"annotations": rows})


def test_vist_stories_are_put_together_in_their_order(tmp_path: Path) -> None:
    for name in ("train", "val", "test"):
        (tmp_path / f"{name}.story-in-sequence.json").write_text(vist_file(2))
    assert format_of(tmp_path) == "vist"
    found = read_vist(tmp_path)
    assert [len(found[split]) for split in ("train", "valid", "test")] == [2, 2, 2]
    assert found["train"][1].sentences == tuple(f"Story 1 goes {place} ." for place in range(5))
    out = tmp_path / "out"
    with pytest.raises(DataError, match=r"2 / 2 / 2 documents, not 40,155 / 4,990 / 5,055"):
        prepare("sind", tmp_path, out)
    assert not out.exists()
    made = prepare("sind", tmp_path, out, any_size=True)
    assert made.form == "" and not made.checked
    assert read_splits(out).test[0].sentences[0] == "Story 0 goes 0 ."
    dataset = open_dataset(str(out))
    assert dataset.name == "sind" and not dataset.comparable


def test_broken_vist_files_are_told_in_one_line(tmp_path: Path) -> None:
    for name in ("train", "val", "test"):
        (tmp_path / f"{name}.story-in-sequence.json").write_text('{"annotations": [[{"story_id": 1}]]}')
    with pytest.raises(DataError, match="not a file of VIST stories"):
        read_vist(tmp_path)


def test_stories_are_split_eight_to_one_to_one(tmp_path: Path) -> None:
    head = "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\n"
    rows = [f'{number},A title,"One, {number}.",Two.,Three.,Four.,Five.' for number in range(41)]
    (tmp_path / "a.csv").write_text(head + "\n".join(rows[:20]) + "\n")
    (tmp_path / "b.csv").write_text(head + "\n".join(rows[20:]) + "\n")
    found = read_stories(tmp_path)
    assert [len(found[split]) for split in ("train", "valid", "test")] == [33, 4, 4]
    assert len({one.id for part in found.values() for one in part}) == 41
    assert read_stories(tmp_path) == found
    assert found["test"][0].sentences[0].startswith("One, ")


def test_abstracts_are_split_into_sentences(tmp_path: Path) -> None:
    file = tmp_path / "arxiv-metadata.json"
    rows = [{"id": f"{number}", "abstract": "We look at\n graphs. They are large."} for number in range(20)]
    file.write_text("\n".join(map(json.dumps, [*rows, {"id": "short", "abstract": "One."}])))
    found = read_abstracts(file)
    assert sum(map(len, found.values())) == 20
    assert found["test"][0].sentences == ("We look at graphs.", "They are large.")


def test_the_published_layout_keeps_its_entities(data: Path, tmp_path: Path) -> None:
    made = prepare("nips", data, tmp_path / "out", any_size=True)
    assert made.sizes == {"train": 12, "valid": 6, "test": 8}
    given, again = read_splits(data), read_splits(tmp_path / "out")
    assert [one.mentions for one in given.valid] == [one.mentions for one in again.valid]
    with pytest.raises(ConfigError, match="the source itself"):
        prepare("nips", data, data, any_size=True)
    with pytest.raises(DataError, match="had here"):
        prepare("nips", tmp_path / "nowhere", tmp_path / "out")


def test_nips_is_what_was_published(data_folder: Path, tmp_path: Path) -> None:
    made = prepare("nips", data_folder / "nips" / "raw", tmp_path / "nips")
    assert made.checked and made.form == "published"
    assert open_dataset(str(tmp_path / "nips")).comparable
    assert not open_dataset(f"nips={data_folder / 'nips'}").comparable  # the texts without the entities
    assert not open_dataset(str(tmp_path / "nips"), documents=10).comparable
    file = tmp_path / "nips" / "test.lower"
    file.write_text(file.read_text(encoding="utf-8").replace("the", "a", 1), encoding="utf-8")
    with pytest.raises(DataError, match="checksum"):
        prepare("nips", tmp_path / "nips", tmp_path / "again")


def test_duc_summaries_are_read_as_they_are_handed_out(tmp_path: Path) -> None:
    place = tmp_path / "eval" / "models" / "2"
    place.mkdir(parents=True)
    (place / "D30001.M.100.T.A").write_text("A storm hit the coast.\nTwo towns lost power.\n")
    (place / "D30002.M.100.T.B").write_text("Dr. Lee won the vote. Her rival\nconceded at noon.")
    html = '<a name="1">[1]</a> <a href="#1" id=1>Rain &amp; wind came.</a>\n<a href="#2" id=2>Boats sank.</a>'
    (place / "D30003.M.100.T.C.html").write_text(html)
    (place / "readme.txt").write_text("No summary. Not one.")
    assert is_duc(tmp_path) and not is_duc(tmp_path / "eval" / "models" / "3")
    found = {one.id: one.sentences for one in read_duc(tmp_path)}
    assert found["D30001.M.100.T.A"] == ("A storm hit the coast.", "Two towns lost power.")
    assert found["D30002.M.100.T.B"] == ("Dr. Lee won the vote.", "Her rival conceded at noon.")
    assert found["D30003.M.100.T.C.html"] == ("Rain & wind came.", "Boats sank.")
    assert sentences_of("") == []
    with pytest.raises(DataError, match="peers/2"):
        read_duc(tmp_path, "peers")
