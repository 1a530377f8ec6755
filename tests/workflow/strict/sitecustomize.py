"""On the path of the tests' jobs: every warning in a script of the workflow is an error."""

import sys
import warnings

if "/workflow/scripts/" in sys.argv[0]:
    warnings.simplefilter("error")
