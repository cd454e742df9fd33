"""What every test finds: one thread, no network, hypothesis without a deadline, and where data and browser are."""

import os
import shutil
import sys
from pathlib import Path

# Before anything imports torch or a hub client: both read these once.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent

# The first call into torch is slow, which a deadline would take for a fault.
settings.register_profile("unshuffle", deadline=None)
settings.load_profile("unshuffle")


def pytest_runtest_setup() -> None:
    """Keeps torch on one thread, also after a test that asked for more; never imports it."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The research corpora, which are not part of the project."""
    folder = Path(os.environ.get("UNSHUFFLE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("needs the research data: set UNSHUFFLE_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's executable, for Playwright's `executable_path`."""
    pytest.importorskip("playwright")
    if not (path := shutil.which("chromium")):
        pytest.skip("needs chromium: apt-get install chromium")
    return path
