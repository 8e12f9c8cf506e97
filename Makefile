# One door to everything: `make help` lists what there is.
PYTHON    ?= python3
VENV      := .venv
BIN       := $(VENV)/bin
INSTALLED := $(VENV)/.installed

LESSONS   := $(sort $(wildcard notebooks/[0-9][0-9]*_*.ipynb))
DOSSIERS  := $(sort $(wildcard notebooks/dossier/[0-9][0-9]*_*.ipynb))
NOTEBOOKS := $(DOSSIERS) $(LESSONS)
LONG      := $(filter $(addprefix notebooks/dossier/,04% 05% 10% 12%),$(NOTEBOOKS))
EXECUTED  := $(patsubst notebooks/%,build/%,$(LONG) $(filter-out $(LONG),$(NOTEBOOKS)))  # two cores then end together
SOURCES   := $(shell find fairlib -type f -not -name '*.pyc' -not -path 'fairlib/recipes/training/*') notebooks/execute.py
DATA      := $(shell find data/bundled data/published data/templates -type f)

# Genuine files may lie anywhere. A folder that is named from here, or from "~", is needed in full where the notebooks run.
ifneq ($(FAIRLIB_DATA),)
  NAMED := $(FAIRLIB_DATA)
  override export FAIRLIB_DATA := $(shell cd "$(patsubst ~/%,$(HOME)/%,$(NAMED))" >/dev/null 2>&1 && pwd)
  $(if $(FAIRLIB_DATA),,$(error FAIRLIB_DATA must name a folder, found '$(NAMED)'))
endif
GENUINE := $(or $(FAIRLIB_DATA),data/original)
# The list of these files is written anew when one comes, goes or changes; notebooks that are older then run again.
# Images are not listed: there may be hundreds of thousands, and no notebook reads them.
$(shell mkdir -p build; list=build/originals.txt; files="-type f -not -name *.jpg -not -name *.png -not -name *.part"; \
    set -f; { test ! -d "$(GENUINE)" || find -L "$(GENUINE)" $$files | sort; } >$$list.new; \
    cmp -s $$list.new $$list && test -z "$$(find -L "$(GENUINE)" $$files -cnewer $$list 2>/dev/null | head -n 1)" \
    && rm $$list.new || mv $$list.new $$list)

# Two notebooks on two cores must not fight over threads, and sums must not depend on how many there are.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help reproduce test site bench lab student slides lint lock models images clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

reproduce: build/ledger.done  ## run lessons and dossiers: every figure, page and the ledger (add -j2 for two at once)

test: $(INSTALLED)  ## run all tests, slow ones included, on all cores
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

site: build/ledger.done build/frames/done $(VENV)/.site  ## make a web site of the executed notebooks: build/site/html/index.html
	$(BIN)/python site/prepare.py
	@rm -rf build/site/html
	$(BIN)/python -m sphinx -q -W --keep-going -c site -d build/site/doctrees build/site/source build/site/html
	@echo "site: build/site/html/index.html"

bench: | $(INSTALLED)  ## measure speed beside other libraries, and how often audits are right: benchmarks/*.md (some minutes)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/audits.py

lab: $(INSTALLED)  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks

student: $(INSTALLED)  ## write the lessons without the exercises' solutions to build/student/
	@$(BIN)/python notebooks/execute.py --student build/student $(LESSONS)

slides: $(INSTALLED) $(VENV)/.site  ## make slides of the lessons' figures and questions: build/slides/index.html
	@$(BIN)/python site/slides.py

lint: $(INSTALLED)  ## check style, types and complexity, and that the notebooks are stored without outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@echo "functions that radon rates D or worse (more than 20 ways through): none allowed"
	@! $(BIN)/radon cc --min D --show-complexity fairlib | grep .
	$(BIN)/python notebooks/execute.py --check $(NOTEBOOKS)

lock:  ## resolve pyproject.toml into requirements.lock and site/requirements.lock again (needs uv)
	uv pip compile pyproject.toml --extra notebooks --extra develop --extra engines --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements.lock
	uv pip compile pyproject.toml --extra site --constraint requirements.lock --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-header --quiet --output-file site/requirements.lock

models: $(INSTALLED)  ## train the sentiment and named-entity models again (extra packages; up to 45 minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[models]'
	$(BIN)/python -m fairlib data build suite_predictions suite_metrics country_predictions text_scores

images: $(INSTALLED)  ## train paper 3's networks on COCO and CelebA in data/original/ (extra packages; days on a GPU)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[images]'
	$(BIN)/python -m fairlib.recipes.training.images

clean:  ## delete what was built: executed notebooks and the environment
	rm -rf build $(VENV)

# Pinned and hashed packages first, then fairlib itself in editable form, so that notebooks import it from anywhere.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "fairlib needs Python 3.11 or newer; name one with 'make PYTHON=python3.12 ...'" >&2; exit 2; }
	@echo "setting up $(VENV) (once; a few minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The widgets at some of their settings, for the site only.
build/frames/done: build/ledger.done site/frames.py | $(INSTALLED)
	@$(BIN)/python site/frames.py

# Only `make site` needs these.
$(VENV)/.site: site/requirements.lock | $(INSTALLED)
	@echo "installing what makes the site (once)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

# An executed notebook, or the ledger, of which a figure or table was deleted since does not count as done. This runs
# while make reads this file, because afterwards make no longer looks.
$(shell for list in build/*.outputs build/dossier/*.outputs; do test -e "$$list" || continue; while read -r file; do \
    test -e "$$file" || rm -f "$${list%outputs}ipynb" "$${list%outputs}done"; done <"$$list"; done)

build/%.ipynb: notebooks/%.ipynb $(SOURCES) $(DATA) build/originals.txt | $(INSTALLED)
	@$(BIN)/python notebooks/execute.py $< $@

build/ledger.done: $(EXECUTED) notebooks/pages.py | $(INSTALLED)
	@$(BIN)/python -m fairlib ledger
	@$(BIN)/python notebooks/pages.py $(LESSONS:notebooks/%=build/%)
	@ls figures/ledger.* figures/README.md docs/lessons/*.md >build/ledger.outputs && touch $@
