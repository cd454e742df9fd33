"""CI runs the README's test command, and all other tests when Spark's files have changed or nobody can say."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
DAY = 24 * 3600

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


class Repository:
    """A repository of its own, whose `make` writes down what it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        make = folder / "bin" / "make"
        make.write_text('#!/bin/sh\necho "$@" >> asked\n')
        make.chmod(0o755)
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
        }

    def git(self, *arguments: str, day: int = 0) -> None:
        moment = f"{1_700_000_000 + day * DAY} +0000"
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            env={**self.environment, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment},
        )

    def commit(self, path: str, *, day: int) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as opened:
            opened.write(f"{day}\n")
        self.git("add", path)
        self.git("commit", "-m", path, day=day)

    def asked(self) -> list[str]:
        (self.folder / "asked").unlink(missing_ok=True)
        (self.folder / ".ci").mkdir(exist_ok=True)
        shutil.copy(SCRIPT, self.folder / ".ci" / "run")
        subprocess.run([self.folder / ".ci" / "run"], check=True, capture_output=True, env=self.environment)
        return (self.folder / "asked").read_text().split()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project")
    made.git("init", "-b", "main")
    made.commit("locks/spark.txt", day=0)
    made.commit("README.md", day=30)
    return made


def test_an_old_change_of_spark_is_not_tested_again(repository: Repository) -> None:
    assert repository.asked() == ["test"]


@pytest.mark.parametrize(
    "path",
    [
        "src/unshuffle/integrations/spark.py",
        "src/unshuffle/integrations/rows.py",
        "tests/integrations/test_spark.py",
        "locks/spark.txt",
        ".ci/run",
    ],
)
def test_a_change_of_spark_some_commits_ago_is_tested(repository: Repository, path: str) -> None:
    repository.commit(path, day=31)
    for day in range(32, 35):
        repository.commit("README.md", day=day)
    assert repository.asked() == ["test", "test-all"]


def test_a_change_that_came_with_a_merge_is_tested(repository: Repository) -> None:
    repository.git("checkout", "-b", "other")
    repository.commit("tests/integrations/test_spark.py", day=31)
    repository.git("checkout", "main")
    repository.commit("README.md", day=32)
    repository.git("merge", "--no-ff", "-m", "merge", "other", day=33)
    assert repository.asked() == ["test", "test-all"]


def test_a_history_that_is_cut_off_is_no_proof(repository: Repository, tmp_path: Path) -> None:
    shallow = Repository(tmp_path / "shallow")
    shallow.git("clone", "--depth", "1", repository.folder.as_uri(), "clone")
    shallow.folder = shallow.folder / "clone"
    assert shallow.asked() == ["test", "test-all"]


def test_no_history_is_no_proof(tmp_path: Path) -> None:
    assert Repository(tmp_path / "unpacked").asked() == ["test", "test-all"]


def test_what_ci_runs_besides_is_a_target_of_make() -> None:
    makefile = (SCRIPT.parents[1] / "Makefile").read_text(encoding="utf-8")
    assert "\ntest-all: test $(SPARK)" in makefile and "tests/integrations/test_spark.py" in makefile


def test_the_script_can_be_run() -> None:
    assert os.access(SCRIPT, os.X_OK)
