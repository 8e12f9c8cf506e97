"""What arrives on another machine: a clone, a source archive, a wheel."""

import subprocess

import pytest

import fairlib
from fairlib import data
from fairlib.data import ROOT


def git(*arguments):
    """Return what git prints in this checkout; skip where there is no repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("these files are not a clone")
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True)


# --- a clone ---


@pytest.fixture(scope="module")
def windows_clone(tmp_path_factory):
    """The data as a clone on Windows holds it, where git may change line ends."""
    folder = tmp_path_factory.mktemp("clone")
    names = git("ls-files", "-z", "data").split("\0")[:-1]
    git(
        *("-c", "core.autocrlf=true"),
        *("checkout-index", f"--prefix={folder}/", "--", *names),
    )
    return folder


@pytest.mark.parametrize("name", data.names())
def test_a_clone_on_windows_loads_every_bundled_table(windows_clone, monkeypatch, name):
    monkeypatch.setattr(data, "BUNDLED", windows_clone / "data" / "bundled")
    frame = fairlib.load(name, source="bundled")
    assert len(frame) == data.card(name)["rows"]


def test_git_never_changes_the_line_ends_of_a_file():
    lines = git("ls-files", "--eol").splitlines()
    assert len(lines) > 400
    for line in lines:
        stored, _, attributes, path = line.split(maxsplit=3)
        assert stored in ("i/lf", "i/none", "i/-text"), path
        assert "eol=lf" in path or attributes == "attr/-text", path
