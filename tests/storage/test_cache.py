"""What both caches share: a bounded file that costs time and nothing else when it is lost."""

import hashlib
import logging
import sqlite3
from itertools import cycle
from pathlib import Path

import pytest

from unshuffle.errors import ConfigError
from unshuffle.storage.cache import ContentCache


def entries(count: int, size: int = 8) -> dict[bytes, bytes]:
    names = [str(number).encode() for number in range(count)]
    return {hashlib.blake2b(name, digest_size=16).digest(): name.rjust(size) for name in names}


def test_what_was_written_is_read_by_another(tmp_path: Path) -> None:
    some = entries(2000)
    ContentCache(tmp_path, "things", "one").write(some)
    assert ContentCache(tmp_path, "things", "one").read([*some, b"unknown"]) == some
    assert ContentCache(tmp_path, "things", "two").read(some) == {}


def test_a_file_stays_below_its_bound_and_keeps_most_of_what_came_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quarters = cycle(range(4))
    monkeypatch.setattr("random.randrange", lambda most: next(quarters))
    cache = ContentCache(tmp_path, "things", "one", most_bytes=300_000)
    some = entries(4000, size=200)
    rows = list(some.items())
    for first in range(0, len(rows), 100):
        cache.write(dict(rows[first : first + 100]))
    (file,) = tmp_path.glob("*.sqlite")
    found = cache.read(some)
    assert file.stat().st_size < 400_000
    assert 400 < len(found) < 1500 and all(some[key] == content for key, content in found.items())
    cache.write(dict(rows[-10:]))
    assert len(cache.read(key for key, _ in rows[-10:])) > 0


def test_every_quarter_of_the_keys_can_be_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for quarter in range(4):
        monkeypatch.setattr("random.randrange", lambda most, quarter=quarter: quarter)
        cache = ContentCache(tmp_path / str(quarter), "things", "one", most_bytes=0)
        some = {bytes([first]) * 16: b"x" for first in range(256)}
        cache.write(some)
        assert {key[0] // 64 for key in cache.read(some)} == {0, 1, 2, 3} - {quarter}


def test_a_file_of_an_earlier_version_is_read_and_added_to(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "parses-one.sqlite") as store:
        store.execute("CREATE TABLE parses (key BLOB PRIMARY KEY, nouns TEXT) WITHOUT ROWID")
        store.execute("INSERT INTO parses VALUES (?, ?)", (b"old", "[]"))
    store.close()
    cache = ContentCache(tmp_path, "parses", "one")
    cache.write({b"new": b"[1]"})
    assert cache.read([b"old", b"new"]) == {b"old": b"[]", b"new": b"[1]"}


def test_damage_is_told_and_mended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = ContentCache(tmp_path, "things", "one")
    (tmp_path / "things-one.sqlite").write_bytes(b"no database " * 99)
    with caplog.at_level(logging.WARNING):
        assert cache.read([b"a"]) == {}
    assert "damaged" in caplog.text
    cache.write({b"a": b"1"})
    assert cache.read([b"a"]) == {b"a": b"1"}


def test_rows_of_another_type_are_unknown(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path, "things", "one")
    cache.write({b"a": b"1", b"b": b"2"})
    with sqlite3.connect(tmp_path / "things-one.sqlite") as store:
        store.execute("UPDATE things SET content = 7 WHERE key = ?", (b"a",))
    store.close()
    assert cache.read([b"a", b"b"]) == {b"b": b"2"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="no folder for things"):
        ContentCache(tmp_path / "file" / "below", "things", "one")
