"""What arrives on another machine: a clone, a source archive, a wheel."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import fairlib
from fairlib import data
from fairlib.data import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


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


# --- the source archive and the wheel ---

BUILD = """
from setuptools import build_meta
build_meta.build_{what}({folder!r})
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with a source archive of this checkout, and with the wheel from it."""
    folder = tmp_path_factory.mktemp("built")
    checkout = tmp_path_factory.mktemp("checkout")
    for name in git("ls-files", "-z").split("\0")[:-1]:
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, checkout / name)

    build("sdist", checkout, folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as stream:
        stream.extractall(folder, filter="data")
    build("wheel", folder / archive.name.removesuffix(".tar.gz"), folder)
    return folder


def build(what, source, folder):
    """Build a source archive ("sdist") or a wheel from a folder of sources."""
    subprocess.run(
        [sys.executable, "-c", BUILD.format(what=what, folder=str(folder))],
        cwd=source,
        check=True,
        capture_output=True,
    )


def committed(*folders):
    """Return the names of the committed files of the package and its data."""
    names = git("ls-files", "-z", *folders).split("\0")[:-1]
    return {name for name in names if (ROOT / name).is_file()}


@pytest.mark.slow
def test_the_source_archive_holds_the_package_and_no_test(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as stream:
        names = {member.name.split("/", 1)[1] for member in stream if member.isfile()}
    expected = committed("fairlib", "data", "LICENSE", "README.md", "CITATION.cff")
    assert names >= expected | {"pyproject.toml", "CHANGELOG.md"}
    assert not [name for name in names if name.startswith("tests")]


@pytest.mark.slow
def test_the_wheel_holds_the_package_its_data_and_its_licence(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as stream:
        names = set(stream.namelist())
    package = {name for name in names if ".dist-info/" not in name}
    expected = {
        re.sub("^data/", "fairlib/_data/", name)
        for name in committed("fairlib", "data")
    }
    assert package == expected
    kinds = {Path(name).suffix for name in package}
    assert kinds >= {".css", ".csv", ".html", ".parquet", ".toml", ".typed"}
    assert [name for name in names if name.endswith("/licenses/LICENSE")]


@pytest.mark.slow
def test_the_wheel_says_what_it_is(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as stream:
        (name,) = (name for name in stream.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(stream.read(name))
    assert metadata["Name"] == "fairlib-audit"
    assert metadata["Version"] == fairlib.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["Keywords"].split(",") == PROJECT["keywords"]
    assert metadata.get_all("Classifier") == PROJECT["classifiers"]
    assert len(metadata.get_all("Project-URL")) == len(PROJECT["urls"])
    assert metadata.get_payload().startswith("# fairlib")


@pytest.mark.slow
def test_the_wheel_works_in_another_folder(built, tmp_path):
    pytest.importorskip("pip")
    (wheel,) = built.glob("*.whl")
    packages = tmp_path / "wheels, été"
    install = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([sys.executable, "-m", *install, packages, wheel], check=True)
    code = """
import fairlib
from fairlib import data
print(fairlib.__file__)
assert all(len(fairlib.load(name, source="bundled")) for name in data.names())
report = fairlib.audit([0, 1] * 40, [0, 1, 1, 1] * 20, ["a", "b"] * 40)
assert "</html>" in report.to_html()
"""
    printed = subprocess.check_output(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(packages), "PYTHONUTF8": "1"},
        encoding="utf-8",
    )
    assert Path(printed.strip()).is_relative_to(packages)


# --- the hosted workflows, which cannot run here ---

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(path):
    """Return each job of a workflow with its steps."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [(job, step) for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_only_what_exists(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = [step["run"] for _, step in steps(path) if "run" in step]
    assert commands
    for command in commands:
        for target in re.findall(r"^make (\w+)", command, flags=re.MULTILINE):
            assert re.search(rf"^{target}:.*##", makefile, flags=re.MULTILINE), target
        for name in re.findall(r"(?:tests|\.ci)/[\w./]+|[\w.]+\.(?:lock|cff)", command):
            assert (ROOT / name).exists(), name
        for name in re.findall(r"^\.ci/\w+", command, flags=re.MULTILINE):
            assert os.access(ROOT / name, os.X_OK), name
        for extra in re.findall(r"\[([\w,]+)\]", command):
            assert set(extra.split(",")) <= set(PROJECT["optional-dependencies"])
    for _, step in steps(path):
        assert ("run" in step) != ("uses" in step)
        assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./]+", step.get("uses", "a/b@v1"))
        assert not re.search(r"://|password|secrets\.", str(step))


def test_the_workflows_run_the_versions_of_python_that_are_declared():
    declared = {
        line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if "3." in line
    }
    assert f">={min(declared)}" == PROJECT["requires-python"]
    for path in WORKFLOWS:
        for job, step in steps(path):
            version = step.get("with", {}).get("python-version", min(declared))
            if version == "${{ matrix.python }}":
                assert set(job["strategy"]["matrix"]["python"]) == declared
            else:
                assert version == min(declared)
