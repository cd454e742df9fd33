"""Writing that is never half-done: a file is there whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unshuffle.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

Read = Callable[[Path], bytes]
"""Gives the content of a file, or refuses it."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Lets `write` fill a temporary file beside `path`, makes it durable, then renames it."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise ConfigError(
            f"{path}: it could not be written ({error.strerror or error}). Make room or choose another folder; "
            "what was there before is unharmed."
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text file, whole."""
    write_whole(path, lambda temporary: _put(temporary, text))


def write_json(path: Path, value: Any) -> None:
    """A JSON file, whole."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """A safetensors file, whole."""
    from safetensors.torch import save_file

    # Copies, because the format refuses tensors that share memory.
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}

    def save(temporary: Path) -> None:
        try:
            save_file(plain, str(temporary))
        except Exception as error:  # the library wraps a full disk in an error of its own
            raise OSError(str(error)) from error

    write_whole(path, save)


def read_tensors(path: Path, *, read: Read | None = None) -> dict[str, Tensor]:
    """The tensors of a safetensors file, whose bytes `read` may give."""
    from safetensors import SafetensorError
    from safetensors.torch import load, load_file

    try:
        return load_file(str(path)) if read is None else load(read(path))
    except FileNotFoundError:
        raise ConfigError(f"{path}: the file is missing. Copy the whole model folder.") from None
    except (SafetensorError, OSError) as error:
        raise ConfigError(f"{path}: not a whole safetensors file ({error}). Download the model folder again.") from None


def read_arrays(path: Path, *, read: Read = Path.read_bytes) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file as numpy arrays."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, NDArray[Any]] = load(read(path))
    except FileNotFoundError:
        raise ConfigError(f"{path}: the file is missing. Copy the whole model folder.") from None
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: not a whole safetensors file ({error}). Download the model folder again.") from None
    return arrays


def read_json(path: Path, *, most: int = 16 * 2**20, read: Read = Path.read_bytes) -> Any:
    """A JSON file of at most `most` bytes."""
    try:
        if path.stat().st_size > most:
            raise ConfigError(f"{path}: it is larger than {most} bytes. That is no such file.")
        return json.loads(read(path).decode("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: the file is missing. Copy the whole model folder.") from None
    except (OSError, ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of 5,000 digits
        raise ConfigError(
            f"{path}: not readable as JSON ({type(error).__name__}). Download the model folder again."
        ) from None


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
