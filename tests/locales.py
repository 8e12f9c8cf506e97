"""What a test needs of the locale in which it runs."""

import sys

import pytest

# Where LC_ALL is C, another program's output, an argument or a path may hold letters
# that cannot be written. The tests that need them are left out there.
needs_more_than_ascii = pytest.mark.skipif(
    sys.getfilesystemencoding() == "ascii", reason="the locale knows only ASCII"
)
