"""Run a notebook from top to bottom through nbconvert, check or strip one, or copy it.

python notebooks/execute.py notebooks/01_mnli_genres.ipynb build/01_mnli_genres.ipynb
python notebooks/execute.py --check notebooks/*.ipynb notebooks/dossier/*.ipynb
python notebooks/execute.py --strip notebooks/01_mnli_genres.ipynb
python notebooks/execute.py --student build/student notebooks/*.ipynb
"""

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

# jsonschema, which nbformat imports, would read a grammar of web addresses: two seconds
# for each notebook, and nothing here needs it.
sys.modules.setdefault("rfc3987_syntax", None)

import nbformat
from nbclient.exceptions import CellTimeoutError
from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor
from nbformat import NotebookNode
from traitlets.config import Config

from fairlib.data import write_whole

SECONDS_PER_CELL = 120
ROOT = Path(__file__).resolve().parents[1]
STUDENT = """*This is the student's copy of `{name}`: it has no solutions. Fill in the \
stubs under "Exercises";
until then the cell that checks an exercise stops with an error.*"""


class Runner(ExecutePreprocessor):
    """Runs the cells one after the other, and knows which cell it is running."""

    place = "the start of the kernel"

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, index: int
    ) -> tuple[NotebookNode, dict]:
        """Remember the cell's number and id, run it, and notice what fails quietly.

        A slider's function may fail without stopping the notebook, and so may a cell
        that only warns.
        """
        self.place = f"cell {index + 1} (id '{cell.id}')"
        executed = super().preprocess_cell(cell, resources, index)

        for widget in self.widget_state.values():
            for output in widget.get("outputs", ()):
                if output["output_type"] == "error":
                    raise RuntimeError(
                        f"a widget shows {output['ename']}: {output['evalue']}"
                    )

        # Elsewhere, other versions of a library may warn, and the results still count.
        if os.environ.get("CI"):
            _refuse_warnings(cell)

        return executed

    def on_comm_open_jupyter_widget(self, message: dict):
        """Keep what a slider's output shows, but do not send it back to the kernel.

        The kernel does not need it. nbclient would send it on the socket on which it
        waits for the cell's reply, and a reply that arrives at that moment goes
        unnoticed until the cell's time is up
        (https://github.com/jupyter/nbclient/issues/312).
        """
        widget = super().on_comm_open_jupyter_widget(message)
        if widget is not None:
            widget.sync_state = lambda: None
        return widget


def execute(source: Path, target: Path) -> None:
    """Run `source` in its own folder and write the executed copy to `target`."""
    notebook = nbformat.read(source, as_version=4)

    # The user names this folder from where they are, which is not where cells run.
    originals = os.environ.get("FAIRLIB_DATA")
    if originals:
        os.environ["FAIRLIB_DATA"] = str(Path(originals).expanduser().absolute())

    with tempfile.TemporaryDirectory() as folder:
        run(notebook, source, target, sockets=Path(folder) / "kernel")


def run(notebook: NotebookNode, source: Path, target: Path, *, sockets: Path) -> None:
    """Run the cells, write the executed copy, and print a line; or name a failed cell.

    `sockets` is the beginning of the paths of the kernel's sockets.
    """
    runner = _runner(sockets)
    started = time.monotonic()
    try:
        runner.preprocess(notebook, {"metadata": {"path": str(source.parent)}})
    except (CellExecutionError, CellTimeoutError, RuntimeError) as error:
        # A RuntimeError: the kernel died or never came, a widget failed, or a warning.
        failed = target.with_suffix(".failed.ipynb")
        _write(notebook, failed)
        sys.exit(
            f"{source.stem}: {runner.place} failed: {reason(error)}\n  (see {failed})"
        )

    _write(notebook, target)
    _list_outputs(source, target)
    target.with_suffix(".failed.ipynb").unlink(missing_ok=True)
    print(f"{source.stem}: done in {time.monotonic() - started:.1f} s", flush=True)


def _refuse_warnings(cell: NotebookNode) -> None:
    """Raise an error if the cell printed a warning, which readers would see."""
    for output in cell.get("outputs", ()):
        if output.output_type == "stream" and output.name == "stderr":
            raise RuntimeError(f"it printed a warning: {output.text.strip()}")


def _runner(sockets: Path) -> Runner:
    """Return a runner with a kernel of its own."""
    # Kernels that start at the same time may pick the same ports, and then wait for
    # each other for ever. Sockets in a folder of their own cannot be mixed up.
    transport = {}
    if os.name == "posix":
        transport = {"transport": "ipc", "ip": str(sockets)}

    return Runner(
        timeout=SECONDS_PER_CELL,
        iopub_timeout=SECONDS_PER_CELL,
        # Otherwise outputs that come late are left out without a word.
        raise_on_iopub_timeout=True,
        kernel_name="python3",
        # The kernel has nothing left to do.
        shutdown_kernel="immediate",
        # These two: otherwise no two runs write the same bytes.
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        config=Config({"KernelManager": transport}),
    )


def _list_outputs(source: Path, target: Path) -> None:
    """Write what the notebook wrote, so that `make` runs it again if a file is lost."""
    number = source.stem.split("_")[0]
    folder = ROOT / "figures"
    if source.parent.name == "dossier":
        folder /= "dossier"
    figures = folder.glob(f"{number}_*")
    answers = ROOT.glob(f"build/ledger/{source.stem}.csv")
    lines = [f"{path.relative_to(ROOT)}\n" for path in sorted([*figures, *answers])]
    target.with_suffix(".outputs").write_text("".join(lines))


def reason(error: Exception) -> str:
    """Say in one line what went wrong."""
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}"
    if isinstance(error, CellTimeoutError):
        return f"no answer within {SECONDS_PER_CELL} s"
    return str(error)


def _write(notebook: NotebookNode, target: Path) -> None:
    """Write a notebook whole: one that was interrupted never looks finished."""
    write_whole(target, partial(nbformat.write, notebook))


def has_outputs(path: Path) -> bool:
    """Whether any code cell of the stored notebook has outputs or a number."""
    notebook = nbformat.read(path, as_version=4)
    return any(
        cell.outputs or cell.execution_count
        for cell in notebook.cells
        if cell.cell_type == "code"
    )


def strip(path: Path) -> None:
    """Remove outputs, execution counts and all metadata but tags from a notebook."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = NotebookNode({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    _write(notebook, path)


def student(source: Path, target: Path) -> None:
    """Write the student's copy of a notebook: without cells tagged `solution`."""
    notebook = nbformat.read(source, as_version=4)
    note = STUDENT.format(name=source.name)
    notebook.cells = [
        nbformat.v4.new_markdown_cell(note, id="student"),
        *(
            cell
            for cell in notebook.cells
            if "solution" not in cell.metadata.get("tags", [])
        ),
    ]
    _write(notebook, target)


def check(paths: list[str]) -> None:
    """Stop with an error if a notebook is stored with outputs."""
    dirty = [path for path in paths if has_outputs(Path(path))]
    if dirty:
        sys.exit(
            f"stored with outputs: {', '.join(dirty)}\n"
            f"  strip with: python {sys.argv[0]} --strip ..."
        )


def main(arguments: list[str]) -> None:
    """Do what the first argument says."""
    option = arguments[0] if arguments else None

    if option == "--check":
        check(arguments[1:])
    elif option == "--strip":
        for path in arguments[1:]:
            strip(Path(path))
    elif option == "--student":
        folder = Path(arguments[1])
        for source in map(Path, arguments[2:]):
            student(source, folder / source.name)
    elif len(arguments) == 2:
        execute(Path(arguments[0]), Path(arguments[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
