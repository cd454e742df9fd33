"""The machine and the process on it: processors, threads, memory, devices, and a bar where somebody can see it."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from unshuffle.errors import ConfigError

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

Result = TypeVar("Result")
Precision = Literal["32", "bf16"]
"""`32`: single precision; `bf16`: products in bfloat16, weights and sums in single precision."""

VARIABLE = "UNSHUFFLE_THREADS"
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # options of glibc's mallopt
KEPT = 1 << 30
USUAL = 1 << 25
"""What the C library comes to by itself once blocks of this size have been freed."""
DELAY = 1.0
"""Seconds within which nothing is shown: what is done by then needs no bar."""


def processors() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def idle_processors() -> int:
    """Those that others leave free at this moment, at least one."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, processors() - round(busy))


def multiplies_bytes() -> bool:
    """Whether the processor has instructions for products of 8-bit numbers; False where it does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    return not {"avx512_vnni", "avx_vnni", "asimddp"}.isdisjoint(flags)


def wanted_threads(*, large: bool) -> int:
    """The user's wish, else one, or for large networks all idle processors.

    Threads that wait for each other on a busy machine are slower than one by an order of magnitude, and the products
    of a small network are too short to be split.
    """
    wish = os.environ.get(VARIABLE, "") or os.environ.get("OMP_NUM_THREADS", "")
    if not wish:
        return idle_processors() if large else 1
    if not wish.isdecimal() or int(wish) < 1:
        raise ConfigError(f"{VARIABLE}={wish}: expected a number from 1. Leave it out for the default.")
    return int(wish)


def use_threads(*, large: bool) -> int:
    """Sets torch's threads, where torch is in use; a number that the program around this one has chosen is kept."""
    threads = wanted_threads(large=large)
    torch = sys.modules.get("torch")
    if torch is None:
        return threads
    if os.environ.get(VARIABLE) or torch.get_num_threads() == processors():
        torch.set_num_threads(threads)
    return int(torch.get_num_threads())


def keep_memory(kept: int = KEPT) -> bool:
    """Asks the C library not to hand large blocks back to the system; False where it cannot be asked.

    Otherwise every large tensor of every step is mapped again, page by page: about a tenth of a training step.
    """
    library = _library()
    if library is None or not hasattr(library, "mallopt"):
        return False
    sizes = ((MMAP_THRESHOLD, kept), (TRIM_THRESHOLD, 2 * kept - 1))
    return all(library.mallopt(option, size) == 1 for option, size in sizes)


def hand_back() -> bool:
    """Gives what is free but scattered back to the system; False where that cannot be asked.

    A service needs blocks of ever new sizes, and what lies between them adds up over its first minutes.
    """
    library = _library()
    if library is None or not hasattr(library, "malloc_trim"):
        return False
    library.malloc_trim(0)
    return True


def settled(results: Iterable[Result], after: int = 256) -> Iterator[Result]:
    """Passes results on; after some, all that is loaded is taken to last, and garbage is sought in the rest only.

    Otherwise a parser's garbage lies about for thousands of documents. For programs, not for the libraries they use:
    what is loaded is everything in the process.
    """
    for number, result in enumerate(results, start=1):
        yield result
        if number == after:
            gc.collect()
            gc.freeze()


def _library() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None)
    except OSError:
        return None


def usable_device(name: str) -> torch.device:
    """The device of that name; `auto` is the best one there is."""
    import torch  # in functions: most of what is here serves programs without it

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ConfigError(f"device '{name}': it cannot be used here. Use cpu, or auto for the best there is.") from None
    return device


def usable_precision(name: str, device: torch.device) -> Precision:
    """The precision of that name; `auto` is bfloat16 where the device has instructions for it, else single."""
    import torch

    if name != "auto":
        return "bf16" if name == "bf16" else "32"
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "32"
    known = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    return "bf16" if known.get("avx512_bf16") or known.get("amx_bf16") else "32"


def computing(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """A context in which modules compute in that precision; their weights keep their own."""
    import torch

    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()


def device_of(module: nn.Module) -> torch.device:
    """Where a module's parameters are."""
    return next(module.parameters()).device


def autocasts(device: torch.device) -> bool:
    """Whether products on this device are computed in fewer bits at this moment."""
    import torch

    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)


def single(*tensors: Tensor) -> tuple[Tensor, ...]:
    """What autocast has shortened back in single precision; everything else as it is."""
    import torch

    return tuple(tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor for tensor in tensors)


def shown(results: Iterator[Result], source: object, wanted: bool | None, *, unit: str) -> Iterator[Result]:
    """Passes results on under a bar; `wanted=None` shows one only on a terminal or in a notebook."""
    if wanted is False or (wanted is None and not _can_be_seen()):
        return results
    if "ipykernel" in sys.modules and find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    else:  # tqdm.auto would warn about missing widgets in the middle of the answers
        from tqdm.std import tqdm

    total = len(source) if isinstance(source, Sized) else None
    return iter(tqdm(results, total=total, unit=unit, delay=0 if wanted else DELAY, leave=False))


def _can_be_seen() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
