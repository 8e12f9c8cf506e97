"""Run a notebook from top to bottom through nbconvert, check how one is stored, or copy one for students.

python notebooks/execute.py notebooks/01_mnli_genres.ipynb build/01_mnli_genres.ipynb
python notebooks/execute.py --check notebooks/*.ipynb
python notebooks/execute.py --strip notebooks/01_mnli_genres.ipynb
python notebooks/execute.py --student build/student notebooks/*.ipynb
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient.exceptions import CellTimeoutError
from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor
from traitlets.config import Config

SECONDS_PER_CELL = 120
ROOT = Path(__file__).resolve().parents[1]
STUDENT = """*This is the student's copy of `{name}`: it has no solutions. Fill in the stubs under "Exercises";
until then the cell that checks an exercise stops with an error.*"""


class Runner(ExecutePreprocessor):
    """Runs the cells one after the other, and knows at which one it is."""

    place = "the start of the kernel"

    def preprocess_cell(self, cell, resources, index):
        """Remember the cell, by its number among all cells and its id, and run it; a slider may fail without a word."""
        self.place = f"cell {index + 1} (id '{cell.id}')"
        done = super().preprocess_cell(cell, resources, index)
        for widget in self.widget_state.values():
            if failed := [
                output
                for output in widget.get("outputs", ())
                if output["output_type"] == "error"
            ]:
                raise RuntimeError(
                    f"a widget shows {failed[0]['ename']}: {failed[0]['evalue']}"
                )
        return done

    def on_comm_open_jupyter_widget(self, message):
        """Keep what a slider's output shows, but do not send it back to the kernel, which does not need it.

        nbclient would send it on the socket on which it waits for the cell's reply. A reply that arrives at that moment
        goes unnoticed until the cell's time is up (https://github.com/jupyter/nbclient/issues/312).
        """
        widget = super().on_comm_open_jupyter_widget(message)
        if widget is not None:
            widget.sync_state = lambda: None
        return widget


def execute(source: Path, target: Path) -> None:
    """Run `source` in its own folder and write the executed copy to `target`, with one line of progress."""
    notebook = nbformat.read(source, as_version=4)
    if folder := os.environ.get(
        "FAIRLIB_DATA"
    ):  # named from where the user stands, which is not where the cells run
        os.environ["FAIRLIB_DATA"] = str(Path(folder).expanduser().absolute())
    with tempfile.TemporaryDirectory() as folder:
        run(notebook, source, target, sockets=Path(folder) / "kernel")


def run(
    notebook: nbformat.NotebookNode, source: Path, target: Path, *, sockets: Path
) -> None:
    """Run the cells, write the executed copy, and say so; or say which cell failed."""
    # Kernels that start at the same time may pick the same ports, and then wait for each other for ever. Sockets in a
    # folder of their own cannot be mixed up.
    transport = {"transport": "ipc", "ip": str(sockets)} if os.name == "posix" else {}
    runner = Runner(
        timeout=SECONDS_PER_CELL,
        iopub_timeout=SECONDS_PER_CELL,
        raise_on_iopub_timeout=True,  # else outputs that come late are left out, and nobody is told
        kernel_name="python3",
        shutdown_kernel="immediate",  # it has nothing left to do
        record_timing=False,  # this and the next: else no two runs write the same bytes
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        config=Config({"KernelManager": transport}),
    )
    started = time.monotonic()
    try:
        runner.preprocess(notebook, {"metadata": {"path": str(source.parent)}})
    except (
        CellExecutionError,
        CellTimeoutError,
        RuntimeError,
    ) as error:  # RuntimeError: the kernel died or never came
        failed = target.with_suffix(".failed.ipynb")
        write_whole(notebook, failed)
        sys.exit(
            f"{source.stem}: {runner.place} failed: {reason(error)}\n  (see {failed})"
        )
    write_whole(notebook, target)
    # What the notebook wrote, so that `make` runs it again when one of these is deleted.
    figures = ROOT.glob(f"figures/{source.stem.split('_')[0]}_*")
    outputs = sorted([*figures, *ROOT.glob(f"build/ledger/{source.stem}.csv")])
    target.with_suffix(".outputs").write_text(
        "".join(f"{path.relative_to(ROOT)}\n" for path in outputs)
    )
    target.with_suffix(".failed.ipynb").unlink(missing_ok=True)
    print(f"{source.stem}: done in {time.monotonic() - started:.1f} s", flush=True)


def reason(error: Exception) -> str:
    """Say in one line what went wrong."""
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}"
    if isinstance(error, CellTimeoutError):
        return f"no answer within {SECONDS_PER_CELL} s"
    return str(error)


def write_whole(notebook: nbformat.NotebookNode, target: Path) -> None:
    """Write beside the target, then rename: a notebook that was interrupted never looks finished."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    nbformat.write(notebook, beside)
    os.replace(beside, target)


def has_outputs(path: Path) -> bool:
    """Whether any code cell of the stored notebook carries outputs or an execution count."""
    notebook = nbformat.read(path, as_version=4)
    return any(
        cell.outputs or cell.execution_count
        for cell in notebook.cells
        if cell.cell_type == "code"
    )


def strip(path: Path) -> None:
    """Remove outputs, execution counts and all metadata but tags from a stored notebook."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.NotebookNode({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    write_whole(notebook, path)


def student(source: Path, target: Path) -> None:
    """Write the student's copy of a stored notebook: the same without the cells that are tagged `solution`."""
    notebook = nbformat.read(source, as_version=4)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "solution" not in cell.metadata.get("tags", [])
    ]
    notebook.cells.insert(
        0, nbformat.v4.new_markdown_cell(STUDENT.format(name=source.name), id="student")
    )
    write_whole(notebook, target)


def main(arguments: list[str]) -> None:
    """Dispatch on the first argument."""
    if arguments and arguments[0] == "--check":
        if dirty := [path for path in arguments[1:] if has_outputs(Path(path))]:
            sys.exit(
                f"stored with outputs: {', '.join(dirty)}\n  strip with: python {sys.argv[0]} --strip ..."
            )
    elif arguments and arguments[0] == "--strip":
        for path in arguments[1:]:
            strip(Path(path))
    elif arguments and arguments[0] == "--student":
        for path in map(Path, arguments[2:]):
            student(path, Path(arguments[1]) / path.name)
    elif len(arguments) == 2:
        execute(Path(arguments[0]), Path(arguments[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
