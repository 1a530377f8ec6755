"""Break the package on purpose, one place at a time, and see whether the tests notice: ``make mutate``.

Each mutation (``mutations.MUTATIONS``) is a text in a file, what takes its place, and the tests that ought to fail.
Files are changed in a copy. The compiled core is built there for any CPU and without optimisation, which takes seconds;
tests of mutations of the core must pass on that build first. A mutation whose text is no longer there counts as not
caught: write it anew for what stands there now.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.mutations import MUTATIONS  # noqa: E402

SHARE = 0.97
CCACHE = "/usr/lib/ccache"  # where ccache is installed, files that did not change are not compiled again
SECONDS = 300  # a test that takes longer has noticed: it waits for an end that does not come
ENDS = {0: "survived", 1: "caught"}


def copy_project(folder):
    for part in ("fusedlr", "tests", "workflow"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, folder)


@contextmanager
def changed(path, *changes):
    """The file with texts replaced while the block runs; True where all of them were there."""
    whole = path.read_text(encoding="utf-8")
    text = whole
    for old, new in changes:
        text = text.replace(old, new)
    try:
        path.write_text(text, encoding="utf-8")
        yield all(old in whole for old, _ in changes)
    finally:
        path.write_text(whole, encoding="utf-8")


def make_core_quick_to_build(folder):
    """One build for any CPU, optimised as the environment says."""
    for path in (folder / "fusedlr/core").glob("core_*.cpp"):
        text = path.read_text(encoding="utf-8")
        chooses = "make(const Problem" not in text or "defined(__x86_64__)" in text
        if not chooses or "#pragma GCC optimize" not in text:
            raise SystemExit(f"{path.name} no longer chooses its builds as this script expects")
        text = re.sub("#pragma GCC optimize.*", "", text.replace("defined(__x86_64__)", "false"))
        path.write_text(text, encoding="utf-8")
    for library in (folder / "fusedlr/core").glob("*.so"):
        library.unlink()


def build(folder):
    """Build the core of the copy; what the compiler said where that failed, else None."""
    command = [sys.executable, "-W", "ignore", "setup.py", "--quiet", "build_ext", "--inplace"]
    env = {**os.environ, "FUSEDLR_OPTIMIZE": "-O0", "PATH": f"{CCACHE}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout + done.stderr


def run_tests(folder, tests):
    """"caught", "survived", or why neither can be said."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "caught"
    return ENDS.get(done.returncode, f"pytest ended with {done.returncode}: {done.stdout[-300:]}")


def outcome(mutation, folder):
    """How one mutation ends."""
    with changed(folder / mutation.path, (mutation.old, mutation.new)) as found:
        if not found:
            return "text not found"
        if mutation.is_compiled and build(folder) is not None:
            return "does not compile"
        return run_tests(folder, mutation.tests)


def control(chosen, folder):
    """Build the core as it is; its tests must pass, or whatever fails afterwards says nothing."""
    make_core_quick_to_build(folder)
    said = build(folder)
    if said is not None:
        raise SystemExit(f"the core does not compile:\n{said}")
    for file in sorted({mutation.tests[0] for mutation in chosen}):
        words = " or ".join(sorted({f"({mutation.tests[2]})" for mutation in chosen if mutation.tests[0] == file}))
        if run_tests(folder, (file, "-k", words)) != "survived":
            raise SystemExit(f"without any mutation these tests of {file} fail: {words}")


def tried(chosen):
    """How each mutation ends, told one by one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_project(folder)
        compiled = [mutation for mutation in chosen if mutation.is_compiled]
        for mutation in [mutation for mutation in chosen if not mutation.is_compiled] + compiled:
            if compiled and mutation is compiled[0]:
                control(compiled, folder)
            end = outcome(mutation, folder)
            print(f"{end:9} {mutation.file:24} {mutation.name}", flush=True)
            yield mutation, end


def share(ends):
    caught = ends.count("caught")
    return f"{caught} of {len(ends)} caught" + (f", {caught / len(ends):.0%}" if ends else "")


def main(words):
    """Try all mutations, or those with one of the words in their names, files or languages (Python, C++)."""
    chosen = [mutation for mutation in MUTATIONS if not words
              or any(word in text for word in words for text in (mutation.name, mutation.file, mutation.language))]
    os.environ.update(MPLBACKEND="Agg", PYTHONDONTWRITEBYTECODE="1")
    ends = list(tried(chosen))
    for language in ("Python", "C++"):
        print(f"{language}: {share([end for mutation, end in ends if mutation.language == language])}")
    print(f"all: {share([end for _, end in ends])}")
    return 0 if sum(end == "caught" for _, end in ends) >= SHARE * len(ends) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
