"""Files that are there whole or not at all."""

import errno
import multiprocessing
import os
import resource
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from unshuffle.errors import ConfigError
from unshuffle.seeds import derived
from unshuffle.storage.files import read_json, read_tensors, write_json, write_tensors, write_text, write_whole


def one_line(error: pytest.ExceptionInfo[ConfigError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_json(tmp_path / "new" / "a.json", {"größe": [1, None]})
    assert read_json(tmp_path / "new" / "a.json") == {"größe": [1, None]}
    shared = torch.arange(6.0)
    write_tensors(tmp_path / "t.safetensors", {"whole": shared, "view": shared.view(2, 3).t()})
    found = read_tensors(tmp_path / "t.safetensors")
    assert torch.equal(found["whole"], shared) and torch.equal(found["view"], shared.view(2, 3).t())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "t.safetensors"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "a.txt", "old")

    def full(path: Path) -> None:
        path.write_text("ne")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ConfigError, match="No space left on device") as error:
        write_whole(tmp_path / "a.txt", full)
    assert "a.txt: it could not be written" in one_line(error)
    monkeypatch.setattr(os, "fsync", lambda handle: full(tmp_path / "b"))
    with pytest.raises(ConfigError, match="No space left"):
        write_tensors(tmp_path / "a.txt", {"a": torch.zeros(3)})
    (tmp_path / "b").unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "Make room or choose another place"),
        (errno.EDQUOT, "Make room or choose another place"),
        (errno.EACCES, "Change the permissions or choose another place"),
        (errno.EPERM, "Change the permissions or choose another place"),
        (errno.EROFS, "Choose another place"),
        (errno.EIO, "Choose another place"),
    ],
)
def test_a_failed_write_says_why_and_what_helps(tmp_path: Path, number: int, advice: str) -> None:
    def failing(path: Path) -> None:
        raise OSError(number, os.strerror(number))

    with pytest.raises(ConfigError) as error:
        write_whole(tmp_path / "a.txt", failing)
    assert f"a.txt: it could not be written ({os.strerror(number)}). {advice};" in one_line(error)


def _write_under_a_limit(target: Path, said: Path) -> None:
    """In a process of its own: a limit on file sizes fails in the middle of the write, as a full disk does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        write_tensors(target, {"a": torch.ones(100_000)})
    except ConfigError as error:
        said.write_text(str(error))


def test_a_full_disk_that_the_tensor_library_meets_is_one_line(tmp_path: Path) -> None:
    target, said = tmp_path / "t.safetensors", tmp_path / "said"
    write_tensors(target, {"old": torch.ones(2)})
    process = multiprocessing.get_context("fork").Process(target=_write_under_a_limit, args=(target, said))
    process.start()
    process.join()
    reason = f"t.safetensors: it could not be written ({os.strerror(errno.EFBIG)}). Choose another place;"
    assert reason in said.read_text() and "\n" not in said.read_text()
    assert list(read_tensors(target)) == ["old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["said", "t.safetensors"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="it could not be written") as error:
        write_text(tmp_path / "file" / "inside" / "a.txt", "x")
    one_line(error)


def test_an_interruption_leaves_no_litter(tmp_path: Path) -> None:
    def interrupted(path: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.txt", interrupted)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ConfigError, match=r"a\.json: not readable as JSON") as error:
        read_json(tmp_path / "a.json")
    one_line(error)


def test_missing_large_and_broken_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1, 2, 3]")
    (tmp_path / "t.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{")
    for read, what in (
        (lambda: read_json(tmp_path / "b.json"), "missing"),
        (lambda: read_json(tmp_path / "a.json", most=3), "larger"),
        (lambda: read_tensors(tmp_path / "u.safetensors"), "missing"),
        (lambda: read_tensors(tmp_path / "t.safetensors"), "not a whole safetensors file"),
        (lambda: read_tensors(tmp_path), "not a whole safetensors file"),
    ):
        with pytest.raises(ConfigError, match=what) as error:
            read()
        one_line(error)


def test_seeds_differ_by_use_and_never_by_run() -> None:
    assert derived(1, "a", 2) == derived(1, "a", 2) == 7442858050933122875
    assert len({derived(seed, name, step) for seed in (1, 2) for name in "ab" for step in range(50)}) == 200
    assert all(0 <= derived(seed) < 2**63 for seed in range(100))


@pytest.fixture
def narrow_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def permissions(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.usefixtures("narrow_umask")
def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    write_text(tmp_path / "new.txt", "x")
    assert permissions(tmp_path / "new.txt") == 0o600
    for mode in (0o640, 0o664, 0o444):
        (tmp_path / "new.txt").chmod(mode)
        write_text(tmp_path / "new.txt", str(mode))
        assert permissions(tmp_path / "new.txt") == mode and (tmp_path / "new.txt").read_text() == str(mode)


def test_weights_can_be_read_by_whom_other_new_files_can(tmp_path: Path) -> None:
    write_text(tmp_path / "config.json", "{}")
    write_tensors(tmp_path / "model.safetensors", {"x": torch.zeros(2)})
    assert permissions(tmp_path / "model.safetensors") == permissions(tmp_path / "config.json")


def test_what_replaces_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(0o600)
    seen: list[int] = []

    def write(temporary: Path) -> None:
        seen.append(permissions(temporary))
        temporary.write_text("new")

    write_whole(tmp_path / "a.txt", write)
    assert seen == [0o600] and (tmp_path / "a.txt").read_text() == "new"


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "real.txt").write_text("old")
    (tmp_path / "link").symlink_to("deep/real.txt")
    (tmp_path / "dangling").symlink_to("deep/new.txt")
    (tmp_path / "round").symlink_to("round")
    write_text(tmp_path / "link", "new")
    write_text(tmp_path / "dangling", "made")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "deep" / "real.txt").read_text() == "new"
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "deep" / "new.txt").read_text() == "made"
    with pytest.raises(ConfigError, match="round: it could not be written") as error:
        write_text(tmp_path / "round", "x")
    one_line(error)
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["new.txt", "real.txt"]


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path, linked: bool) -> None:
    pipe = path = tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        path = tmp_path / "link"
        path.symlink_to("pipe")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(path, "through")
    reader.join(10)
    assert got == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_weights_go_into_a_pipe_too(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_tensors(pipe, {"whole": torch.arange(6.0)})
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(10)
    (tmp_path / "copy").write_bytes(got[0])
    assert torch.equal(read_tensors(tmp_path / "copy")["whole"], torch.arange(6.0))


def test_an_open_pipe_can_be_named_by_its_handle(tmp_path: Path) -> None:
    """As the shell names one in `--out >(sort)`."""
    reading, writing = os.pipe()
    write_text(Path(f"/dev/fd/{writing}"), "through")
    os.close(writing)
    with os.fdopen(reading) as reader:
        assert reader.read() == "through"


def test_a_folder_in_the_place_of_a_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it could not be written") as error:
        write_text(tmp_path, "x")
    one_line(error)
