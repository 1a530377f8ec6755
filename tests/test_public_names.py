"""The public face of the package: what `import fusedlr` brings, and what it leaves for later."""

import sys

import fusedlr
from tests.processes import said


def python(code):
    return said([sys.executable, "-c", code])


def test_plots_are_reached_without_an_import_of_their_own_and_matplotlib_waits_for_them():
    shown = python("import fusedlr, sys\nprint(any(m.split('.')[0] in ('matplotlib', 'rpy2') for m in sys.modules))\n"
                   "print(fusedlr.plots.coef_map.__name__)")
    assert shown.split() == ["False", "coef_map"]


def test_without_matplotlib_the_error_says_what_to_install():
    shown = python("import sys\nsys.modules['matplotlib'] = None\nimport fusedlr\n"
                   "try:\n    fusedlr.plots\nexcept ImportError as error:\n    print(error)")
    assert "matplotlib" in shown
    assert "pip install fusedlr[plots]" in shown


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(fusedlr, "nothing_of_this_name")
