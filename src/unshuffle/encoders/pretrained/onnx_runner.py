"""The layers of a BERT in ONNX Runtime."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from unshuffle.encoders.pretrained.onnx_file import OUTPUT, check_onnx
from unshuffle.encoders.pretrained.runners import Layout
from unshuffle.errors import ConfigError


def onnx_is_here() -> bool:
    """Whether what is needed to check and to run an ONNX file is installed."""
    return all(find_spec(package) is not None for package in ("onnx", "onnxruntime"))


class OnnxRunner:
    """Runs a checked graph on the processor, with as many threads as torch has at this moment."""

    def __init__(self, content: bytes, *, where: str) -> None:
        check_onnx(content, where)
        self._where = where
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what goes wrong is raised, in one line
        # A thread that waits busily takes the processor from the rest of the network, which torch runs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = self._tried(
            lambda: runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        )

    def __call__(self, states: Tensor, layout: Layout) -> Tensor:
        """(pieces, width) -> (pieces, width)."""
        given = {"states": states, "cells": layout.cells, "mask": layout.mask, "place": layout.place}
        if layout.other is not None:
            given["other"] = layout.other
        arrays = {name: value.detach().numpy() for name, value in given.items()}
        (found,) = self._tried(lambda: self._session.run([OUTPUT], arrays))
        answer = torch.from_numpy(found)
        if answer.shape != states.shape or answer.dtype != states.dtype:
            raise ConfigError(
                f"{self._where}: it gives {tuple(answer.shape)} for {tuple(states.shape)}. Export it again."
            )
        return answer

    def _tried(self, call: Any) -> Any:
        try:
            return call()
        except Exception as error:  # the runtime's own, of a class for each of its codes
            reason = " ".join(str(error).split())[:200]
            raise ConfigError(
                f"{self._where}: ONNX Runtime cannot run it ({reason}). Download the model folder again."
            ) from None
