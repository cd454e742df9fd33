"""Loading a model and ordering with it change nothing for the rest of the process."""

import json
import subprocess
import sys
from pathlib import Path

from tests.fixtures.tiny import save_tiny

SCRIPT = """
import json, logging, os, sys, warnings
import spacy, torch
from unshuffle.system.orderer import Orderer

def state():
    loggers = {name: (one.level, one.propagate, len(one.handlers))
               for name, one in logging.root.manager.loggerDict.items() if isinstance(one, logging.Logger)}
    return {
        "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
        "environment": dict(os.environ),
        "root": [logging.root.level, len(logging.root.handlers)],
        "loggers": {name: value for name, value in loggers.items() if value != (0, True, 0)},
        "filters": len(warnings.filters),
        "dtype": str(torch.get_default_dtype()),
        "gradients": torch.is_grad_enabled(),
        "random": torch.random.get_rng_state().tolist(),
    }

# What torch and spaCy do when they are imported is not ours; torch imports its compiler for the first meta tensors.
with torch.device("meta"):
    torch.nn.Embedding(2, 2), torch.nn.LSTM(2, 2), torch.nn.Linear(2, 2)
torch.set_num_threads(2)
before = state()
orderer = Orderer.from_pretrained(sys.argv[1])
assert sorted(orderer.order(["one box", "two keys", "the key of the box"]).order) == [0, 1, 2]
after = state()
print(json.dumps([key for key in before if before[key] != after[key]]))
"""


def test_loading_and_ordering_change_no_global_state(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path)
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
