"""One safe R session for each process.

``call`` is the only way in. It takes the source of an R function and plain Python
values, and hands back plain Python values; no R object and no rpy2 converter leaves
this module except through ``call_raw``.

- R starts at the first call, never at import: ``--vanilla``, so that no profile and no
  saved workspace of the user or of the working directory leaks in, and with one BLAS thread.
- Sources are read in a namespace, so that no name in the user's workspace changes what they do.
  Packages are loaded, not attached: first from the folders in ``$FUSEDLR_RLIB``, then from
  ``.rlib`` of the project, then from R's own libraries, whose list stays as it is.
- What R prints goes to the logger ``fusedlr.r``. R's warnings become ``RWarning``, R's
  errors ``RError``, both in R's own words. Ctrl-C stops R first and Python then.
- R lives in the main thread. Other threads are refused, because R would crash.
- A process forked from one with a live R gets a copy that works (R's own ``mclapply``
  does the same), unless the fork happened in the middle of a call or in another thread:
  then it is refused. Spawned processes start an R of their own.
- R's temporary folder goes with the process, by SIGTERM too.
- An R that somebody started before through rpy2 is used as it is. An R that has started Python by
  itself, through reticulate, is refused: it would run Python code without the GIL.
"""

from __future__ import annotations

import atexit
import logging
import multiprocessing.util
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fusedlr.r.values import named_list, to_python, to_r

__all__ = ["RError", "RMissingError", "RWarning", "call", "call_raw", "has_package", "versions"]

logger = logging.getLogger("fusedlr.r")

_OPTIONS = ("rpy2", "--quiet", "--vanilla", "--no-save")
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")

# Runs a function and returns its value, error and warnings, so that nothing is parsed from the console.
_GUARD = """
function(f, arguments) {
    heard <- character()
    report <- function(how, e) {
        where <- conditionCall(e)[[1L]]
        list(how = how, message = conditionMessage(e), where = if (is.name(where)) as.character(where) else "",
             warnings = heard)
    }
    tryCatch(
        withCallingHandlers({
            value <- do.call(f, arguments, quote = TRUE)
            list(how = "returned", value = value, warnings = heard)
        }, warning = function(w) {
            heard <<- c(heard, conditionMessage(w))
            invokeRestart("muffleWarning")
        }),
        error = function(e) report("failed", e),
        interrupt = function(e) list(how = "interrupted", warnings = heard)
    )
}
"""


class RError(RuntimeError):
    """R stopped with an error, or cannot be used from here; the message holds R's words."""


class RMissingError(RError):
    """R, rpy2 or an R package is not installed."""


class RWarning(UserWarning):
    """A warning of R, in R's words."""


class _State:
    """State of R in this process."""

    rinterface = None
    guard: Any = None
    thread = None
    in_call = False
    refused = None


_state = _State()


def call(function: str, packages: Sequence[str] = (), **arguments: Any) -> Any:
    """Value of an R function as plain Python.

    Parameters
    ----------
    function : str
        Source of an R function.
    packages : sequence of str
        R packages to load first; name their functions in full, ``package::function``.
    **arguments
        None, numbers, strings, arrays of numbers (1 or 2 dimensions), lists of
        strings, or dicts of these (named lists).

    Returns
    -------
    object
        Numeric and logical vectors as arrays (NA as nan), matrices as 2-d arrays,
        strings as lists (NA as None), named lists as dicts, other lists as lists.
        A factor is refused: turn it into codes or strings in R.
    """
    return to_python(call_raw(function, packages, **arguments))


def call_raw(function: str, packages: Sequence[str] = (), **arguments: Any) -> Any:
    """Value of an R function as rpy2's low-level object; otherwise like ``call``."""
    rinterface = _running()
    with _console_to_logger(), _interrupts_to_r(), _one_call():
        for package in packages:
            _load(package)
        named = named_list({name: to_r(value) for name, value in arguments.items()})
        outcome = _state.guard(_evaluated(function), named)
    return _checked(rinterface, outcome)


def has_package(name: str) -> bool:
    """Whether R is here and has a package of this name."""
    try:
        call("function() NULL", packages=[name])
    except RMissingError:
        return False
    return True


def versions(*packages: str) -> dict[str, str]:
    """Versions of R, rpy2 and R packages, as a dict of str."""
    from importlib.metadata import version

    found = call("function(names) vapply(names, function(name) getNamespaceInfo(name, 'spec')[['version']], '')",
                 packages=packages, names=list(packages))
    r_version = call("function() paste(R.version$major, R.version$minor, sep = '.')")[0]
    return {"R": r_version, "rpy2": version("rpy2"), **dict(zip(packages, found))}


def _running():
    """rpy2's low-level module with R started, or an error that says why not."""
    if _state.refused:
        raise RError(_state.refused)
    if threading.current_thread() is not threading.main_thread():
        raise RError(f"R runs in the main thread only, and this call comes from thread "
                     f"{threading.current_thread().name!r}: use processes instead of threads")
    if "rpycall" in sys.modules:
        raise RError("this Python runs inside of R, through reticulate, and cannot call that R safely: use R's own ada "
                     "and glmnet there")
    if _state.rinterface is None:
        _start()
    return _state.rinterface


def _start():
    handler = signal.getsignal(signal.SIGINT)
    try:
        with _clean_environment():
            _state.rinterface = _initialised()
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
    _state.thread = threading.get_ident()
    os.register_at_fork(after_in_child=_after_fork)
    with _console_to_logger():
        _state.guard = _evaluated(_GUARD)
    _remove_temporary_folder_at_sigterm(call("function() tempdir()")[0])


def _initialised():
    try:
        from rpy2.rinterface_lib import embedded
    except ImportError as error:
        raise RMissingError(
            "rpy2 is not installed or does not fit the installed R: pip install 'fusedlr[r]', for an R before 4.5 "
            f"'fusedlr[r-old]', or make setup in a clone of the project ({error})") from error
    except Exception as error:
        raise RMissingError(f"R was not found: install it, and have it on the PATH ({error})") from error
    if not embedded.isinitialized():
        embedded.set_initoptions(_OPTIONS)
    try:
        from rpy2 import rinterface
        with _console_to_logger():
            rinterface.initr(interactive=False)
    except Exception as error:
        raise RMissingError(f"R could not be started: does it start by itself? ({error})") from error
    _remove_temporary_folder_at_exit(rinterface.endr)
    return rinterface


def _remove_temporary_folder_at_exit(end):
    """End R with the process; rpy2 does so itself only for one of its two ways to start."""
    atexit.register(end, 0)
    if multiprocessing.parent_process() is not None:
        # A worker process leaves without running what atexit knows.
        multiprocessing.util.Finalize(None, end, args=(0,), exitpriority=1)


def _remove_temporary_folder_at_sigterm(folder):
    """Remove R's folder before the process ends by SIGTERM, unless the user handles that signal."""
    owner = os.getpid()

    def leave(signum, frame):
        if os.getpid() == owner:  # a forked child has its parent's folder
            shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signum, signal.SIG_DFL)
        signal.raise_signal(signum)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, leave)


def _after_fork():
    """Decide in a forked child whether its copy of R is usable."""
    atexit.unregister(_state.rinterface.endr)  # the temporary folder belongs to the parent
    if _state.in_call or threading.get_ident() != _state.thread:
        _state.refused = ("this process was forked from one whose R was at work or lives in another thread, so its "
                          "copy of R is broken: start processes with multiprocessing's 'spawn' method")


@contextmanager
def _one_call():
    _state.in_call = True
    try:
        yield
    finally:
        _state.in_call = False


@contextmanager
def _interrupts_to_r():
    """Let Ctrl-C stop R at its next check, then run Python's own handler.

    Python's own handler would raise inside one of rpy2's callbacks, where the exception is lost.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        yield
        return
    pressed = []

    def tell_r(signum, frame):
        pressed.append(signum)
        _state.rinterface.openrlib.rlib.R_interrupts_pending = 1

    signal.signal(signal.SIGINT, tell_r)
    try:
        yield
    finally:
        _state.rinterface.openrlib.rlib.R_interrupts_pending = 0
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _clean_environment():
    """Environment in which R starts without the user's profile and with one BLAS thread; only ``R_HOME`` is kept.

    Newer releases of rpy2 start another R to read its environment: a faulty profile would stop it, and it
    warns where R redefines a variable such as ``LD_LIBRARY_PATH``.
    """
    before = dict(os.environ)
    os.environ.update(R_PROFILE_USER="", R_ENVIRON_USER="")
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Environment variable .* redefined by R")
            yield
    finally:
        for name in set(os.environ) - set(before) - {"R_HOME"}:
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _console_to_logger():
    """Send what R prints to the logger for the length of one call, and leave rpy2 as it was."""
    from rpy2.rinterface_lib import callbacks

    saved = callbacks.consolewrite_print, callbacks.consolewrite_warnerror
    lines = _Lines()
    callbacks.consolewrite_print = callbacks.consolewrite_warnerror = lines.write
    try:
        yield
    finally:
        callbacks.consolewrite_print, callbacks.consolewrite_warnerror = saved
        lines.flush()


class _Lines:
    """Collects R's fragments of text and logs them line by line."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        *lines, self.text = (self.text + text).split("\n")
        for line in lines:
            logger.info("%s", line)

    def flush(self):
        if self.text:
            logger.info("%s", self.text)
        self.text = ""


def _library_folders():
    named = os.environ.get("FUSEDLR_RLIB", "").split(os.pathsep)
    project = Path(__file__).resolve().parents[2] / ".rlib"
    folders = [*(Path(name) for name in named if name), project]
    return [str(folder.resolve()) for folder in folders if folder.is_dir()]


def _load(package):
    source = "function(name, folders) requireNamespace(name, lib.loc = c(folders, .libPaths()), quietly = TRUE)"
    arguments = {"name": to_r(package), "folders": to_r(_library_folders())}
    if not _checked(_state.rinterface, _state.guard(_evaluated(source), named_list(arguments)))[0]:
        raise RMissingError(f"R's package {package!r} is not installed: install.packages({package!r}) in R gets it")


@cache
def _evaluated(source):
    """The R function of a source; R's own functions mask those of the user with the same name."""
    try:
        return _state.rinterface.evalr(f"base::local({source}, base::new.env(parent = base::asNamespace('stats')))")
    except Exception as error:
        raise RError(f"R cannot read this source: {error}") from error


def _checked(rinterface, outcome):
    """The value that the guard returned; its warnings and errors are raised in Python."""
    parts = dict(zip(outcome.names, outcome))
    for message in parts["warnings"]:
        warnings.warn(message, RWarning, stacklevel=4)
    how = parts["how"][0]
    if how == "interrupted":
        raise KeyboardInterrupt
    if how == "failed":
        where = parts["where"][0]
        raise RError(f"R stopped{f' in {where}()' if where else ''}: {parts['message'][0].strip()}")
    return parts.get("value", rinterface.NULL)
