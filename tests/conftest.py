"""What holds for all tests, on every worker: set before NumPy is imported."""

import os
import sys

# Tests run side by side, one on each core. Libraries that start as many threads each
# wait for one another instead: gradient boosting on 2,000 examples then takes a minute,
# not a tenth of a second.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# jsonschema, which nbformat imports, would read a grammar of web addresses: two seconds
# on each worker, and no test needs it.
sys.modules.setdefault("rfc3987_syntax", None)
