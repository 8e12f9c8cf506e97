"""Run a notebook from top to bottom through nbconvert, or check that one is stored without outputs.

python notebooks/execute.py notebooks/01_mnli_genres.ipynb build/01_mnli_genres.ipynb
python notebooks/execute.py --check notebooks/*.ipynb
python notebooks/execute.py --strip notebooks/01_mnli_genres.ipynb
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor
from traitlets.config import Config

SECONDS_PER_CELL = 300
FIGURES = Path(__file__).resolve().parents[1] / "figures"


def execute(source: Path, target: Path) -> None:
    """Run `source` in its own folder and write the executed copy to `target`, with one line of progress."""
    notebook = nbformat.read(source, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        run(notebook, source, target, sockets=Path(folder) / "kernel")


def run(notebook: nbformat.NotebookNode, source: Path, target: Path, *, sockets: Path) -> None:
    """Run the cells, write the executed copy, and say so; or say which cell failed."""
    # Kernels that start at the same time may pick the same ports, and then wait for each other for ever. Sockets in a
    # folder of their own cannot be mixed up.
    transport = {"transport": "ipc", "ip": str(sockets)} if os.name == "posix" else {}
    runner = ExecutePreprocessor(
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,  # else no two runs write the same bytes
        extra_arguments=["--log-level=ERROR"],
        config=Config({"KernelManager": transport}),
    )
    started = time.monotonic()
    try:
        runner.preprocess(notebook, {"metadata": {"path": str(source.parent)}})
    except CellExecutionError as error:
        failed = target.with_suffix(".failed.ipynb")
        write_whole(notebook, failed)
        sys.exit(f"{source.stem}: {failed_cell(notebook)}: {error.ename}: {error.evalue}\n  (see {failed})")
    write_whole(notebook, target)
    # What the notebook wrote, so that `make` runs it again when one of these is deleted.
    outputs = sorted(FIGURES.glob(f"{source.stem[:2]}_*"))
    target.with_suffix(".outputs").write_text("".join(f"figures/{path.name}\n" for path in outputs))
    target.with_suffix(".failed.ipynb").unlink(missing_ok=True)
    print(f"{source.stem}: done in {time.monotonic() - started:.1f} s", flush=True)


def failed_cell(notebook: nbformat.NotebookNode) -> str:
    """Name the cell that raised, by its number among all cells and its id."""
    for number, cell in enumerate(notebook.cells, start=1):
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            return f"cell {number} (id '{cell.id}') failed"
    return "a cell failed"


def write_whole(notebook: nbformat.NotebookNode, target: Path) -> None:
    """Write beside the target, then rename: a notebook that was interrupted never looks finished."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    nbformat.write(notebook, beside)
    os.replace(beside, target)


def has_outputs(path: Path) -> bool:
    """Whether any code cell of the stored notebook carries outputs or an execution count."""
    notebook = nbformat.read(path, as_version=4)
    return any(cell.outputs or cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


def strip(path: Path) -> None:
    """Remove outputs and execution counts from a stored notebook."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    write_whole(notebook, path)


def main(arguments: list[str]) -> None:
    """Dispatch on the first argument."""
    if arguments and arguments[0] == "--check":
        if dirty := [path for path in arguments[1:] if has_outputs(Path(path))]:
            sys.exit(f"stored with outputs: {', '.join(dirty)}\n  strip with: python {sys.argv[0]} --strip ...")
    elif arguments and arguments[0] == "--strip":
        for path in arguments[1:]:
            strip(Path(path))
    elif len(arguments) == 2:
        execute(Path(arguments[0]), Path(arguments[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
