"""`unshuffle order` of a six-sentence file from a cold start: where the time goes and what is imported."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from unshuffle.system.folder import save_model
from unshuffle_research.benchmarks.documents import nips_like, of_size
from unshuffle_research.benchmarks.models import decoding_model
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, environment

HEAVY = ("torch", "spacy", "transformers", "pandas", "sklearn", "lightning_fabric", "tensorboard", "scipy.stats")
NEEDED_BY_ORDER = ("torch", "spacy")
MOST = 3.0
"""Times that importing torch and spaCy alone takes: below them nobody gets, whatever the program does."""
WATCH = (
    "import sys, json, time; start = time.perf_counter(); sys.argv = ['unshuffle', *{arguments!r}]\n"
    "from unshuffle.cli import main\n"
    "try:\n    main()\nexcept SystemExit:\n    pass\n"
    "print(json.dumps([name for name in {heavy!r} if name in sys.modules]), file=sys.stderr)\n"
)
STEPS = """
import json, sys, time
clock, marks = time.perf_counter, {}
start = clock()
def mark(name):
    global start
    marks[name] = clock() - start
    start = clock()
from unshuffle.cli import app
mark("command line")
import torch
mark("torch")
from unshuffle.system.orderer import Orderer
mark("the program")
orderer = Orderer.from_pretrained(sys.argv[1])
mark("model")
orderer.parser
mark("parser")
sentences = open(sys.argv[2]).read().splitlines()
orderer.order(sentences)
mark("first order")
orderer.order(sentences)
mark("second order")
print(json.dumps(marks))
"""


def run(settings: Settings) -> Report:
    """Seconds on the clock; the ratio is to what importing torch and spaCy takes."""
    repeats = 1 if settings.quick else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(decoding_model("irse-grn", nips_like(40), settings), folder / "model")
        text = folder / "six.txt"
        text.write_text("\n".join(of_size(6, 25)[0].sentences) + "\n", encoding="utf-8")
        order = ["order", str(text), "--model", str(folder / "model")]
        bare = min(_clock(["-c", "import torch, spacy"]) for _ in range(repeats))
        whole = min(_clock(["-c", "from unshuffle.cli import main; main()", *order]) for _ in range(repeats))
        asked = min(_clock(["-c", WATCH.format(arguments=["--help"], heavy=())]) for _ in range(repeats))
        steps = json.loads(_out(["-c", STEPS, str(folder / "model"), str(text)])[0])
        imported = {
            "--help": _imported(["--help"]),
            "systems": _imported(["systems"]),
            "order": _imported(order),
        }
    needless = sum(name not in NEEDED_BY_ORDER for name in imported["order"])
    return Report(
        "cold_start",
        (
            Target(name="order, in times of importing torch and spaCy", ratio=whole / bare, limit=MOST, at_most=True),
            Target(name="large packages that --help imports", ratio=len(imported["--help"]), limit=0, at_most=True),
            Target(name="large packages that order imports needlessly", ratio=needless, limit=0, at_most=True),
        ),
        {
            "seconds": {"order": whole, "--help": asked, "import torch, spacy": bare},
            "seconds of each step": steps,
            "imports": {name: ", ".join(found) or "none" for name, found in imported.items()},
        },
    )


def _clock(arguments: list[str]) -> float:
    start = time.perf_counter()
    _out(arguments)
    return time.perf_counter() - start


def _out(arguments: list[str]) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment(), timeout=600
    )
    return done.stdout, done.stderr


def _imported(arguments: list[str]) -> list[str]:
    """Which of the large packages a command has imported when it is done."""
    _, said = _out(["-c", WATCH.format(arguments=arguments, heavy=HEAVY)])
    found: list[str] = json.loads(said.strip().splitlines()[-1])
    return found
