"""Files that are there whole or not at all, weights as they are stored, and folders that came from elsewhere."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unshuffle.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

Read = Callable[[Path], bytes]
"""Gives the content of a file, or refuses it."""
LARGEST = 2**28
"""Bytes of a file for which no other limit is known; that of weights is known from the network."""
Storage = Literal["float32", "float16", "int8"]
SCALE = "#scale"
LARGE = 1 << 14
"""Numbers from which on a matrix is worth a scale per row; biases and small tables keep 16 bits."""


def advice_on(error: OSError) -> str:
    """What to do about a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Make room or choose another place"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "Change the permissions or choose another place"
    return "Choose another place"


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Lets `write` fill a temporary file beside `path`, makes it durable, then renames it.

    A link stays and its target is replaced; pipes and devices are written to as they are.
    """
    temporary: Path | None = None
    try:
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            write(path)
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}-{secrets.token_urlsafe(6)}")
        # No wider than the file it replaces, not even for a moment; where there is none, the umask decides.
        allowed = 0o666 if mode is None else stat.S_IMODE(mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR
        unfinished.touch(allowed, exist_ok=False)
        temporary = unfinished
        final = stat.S_IMODE(unfinished.stat().st_mode if mode is None else mode) & 0o777
        write(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(final)  # some writers put a file of their own in its place
        temporary.replace(target)
    except BrokenPipeError:  # whoever read the pipe has had enough
        raise
    except OSError as error:
        raise ConfigError(
            f"{path}: it could not be written ({error.strerror or error}). {advice_on(error)}; "
            "what was there before is unharmed."
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """Kind and permissions of what a path leads to; None where nothing is there."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def write_text(path: Path, text: str) -> None:
    """A text file, whole."""
    write_whole(path, lambda temporary: _put(temporary, text))


def write_json(path: Path, value: Any) -> None:
    """A JSON file, whole."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """A safetensors file, whole."""
    from safetensors.torch import save

    # Copies, because the format refuses tensors that share memory. Bytes, because the library would put a file of its
    # own in the place of a pipe or device.
    plain = save({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()})

    def fill(temporary: Path) -> None:
        temporary.write_bytes(plain)

    write_whole(path, fill)


def read_tensors(path: Path, *, read: Read | None = None) -> dict[str, Tensor]:
    """The tensors of a safetensors file, whose bytes `read` may give."""
    from safetensors import SafetensorError
    from safetensors.torch import load, load_file

    try:
        return load_file(str(path)) if read is None else load(read(path))
    except FileNotFoundError:
        raise ConfigError(f"{_placed(path)}: the file is missing. Give a whole model folder.") from None
    except (SafetensorError, OSError) as error:
        raise ConfigError(f"{path}: not a whole safetensors file ({error}). Download the model folder again.") from None


def read_arrays(path: Path, *, read: Read = Path.read_bytes) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file as numpy arrays."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, NDArray[Any]] = load(read(path))
    except FileNotFoundError:
        raise ConfigError(f"{_placed(path)}: the file is missing. Give a whole model folder.") from None
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: not a whole safetensors file ({error}). Download the model folder again.") from None
    return arrays


def read_json(path: Path, *, most: int = 16 * 2**20, read: Read | None = None) -> Any:
    """A JSON file of at most `most` bytes."""
    try:
        if path.stat().st_size > most:
            raise ConfigError(f"{path}: it is larger than {most} bytes. That is no such file.")
        return json.loads((_regular(path, most) if read is None else read(path)).decode("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{_placed(path)}: the file is missing. Give a whole model folder.") from None
    except (OSError, ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of 5,000 digits
        raise ConfigError(
            f"{path}: not readable as JSON ({type(error).__name__}). Download the model folder again."
        ) from None


def _placed(path: Path) -> Path:
    """With its folder, which a file of the current one does not name."""
    return path if path.parent.name else path.absolute()


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


class FolderFiles:
    """Reads files of one folder; what is hashed is what is parsed, since both come from the same bytes."""

    def __init__(self, folder: Path, hashes: Mapping[str, str] | None = None) -> None:
        """`hashes`: SHA-256 of files by their path within the folder; others are read unchecked."""
        self.folder = folder
        self.hashes = dict(hashes or {})

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.folder / name).is_file()

    def read(self, file: Path, most: int = LARGEST) -> bytes:
        """A file of the folder, of at most `most` bytes."""
        try:
            inside, found = self.folder.resolve(), file.resolve(strict=True)
            if not found.is_relative_to(inside):
                raise _not_regular(file)
            content = _regular(found, most, file)
        except (OSError, RuntimeError, ValueError) as error:  # also links that lead to themselves, and zeros in names
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ConfigError(f"{file}: it cannot be read ({reason}). Copy the whole model folder.") from None
        wanted = self.hashes.get(file.relative_to(self.folder).as_posix())
        if wanted is not None and hashlib.sha256(content).hexdigest() != wanted:
            raise ConfigError(f"{file}: not as it was written with config.json. Download the model folder again.")
        return content


def _regular(found: Path, most: int, file: Path | None = None) -> bytes:
    """The content of a file that is neither a pipe nor a device, which may have no end; errors name `file`."""
    file = file or found
    # Without waiting, because a pipe that nobody writes to would wait for ever.
    handle = os.open(found, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as opened:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise _not_regular(file)
        if status.st_size > most:
            raise ConfigError(f"{file}: it is larger than {most} bytes, so it does not belong here.")
        return opened.read(status.st_size)  # `most` may be beyond any memory


def _not_regular(file: Path) -> ConfigError:
    return ConfigError(f"{file}: it is not a regular file of the model folder. Copy the file into the folder.")


def packed(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """The tensors as they are written to disk."""
    if storage == "float32":
        return dict(tensors)
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            found[name] = tensor
        elif storage == "int8" and tensor.dim() == 2 and tensor.numel() >= LARGE:
            scale = tensor.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
            found[name] = (tensor / scale).round().char()
            found[name + SCALE] = scale
        else:
            found[name] = tensor.half()
    return found


def unpacked(tensors: Mapping[str, Tensor], where: str = "weights") -> dict[str, Tensor]:
    """The reverse of `packed`, in 32 bits; `where` is the file that errors name."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(SCALE):
            _check_scale(name, tensor, tensors.get(name.removesuffix(SCALE)), where)
            continue
        scale = tensors.get(name + SCALE)
        if scale is not None:
            _check_scale(name + SCALE, scale, tensor, where)
            tensor = tensor.float() * scale.float()
        found[name] = tensor.float() if tensor.is_floating_point() else tensor
    return found


def _check_scale(name: str, scale: Tensor, tensor: Tensor | None, where: str) -> None:
    """One number per row of a matrix, since any other shape would multiply to a larger matrix than is stored."""
    if tensor is None or tensor.dim() != 2 or scale.shape != (len(tensor), 1):
        raise ConfigError(f"{where}: {name[:99]!r} is not one scale per row. Download the model folder again.")
