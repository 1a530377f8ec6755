"""What the tests compile: kept under build/ from run to run, made again only where it would come out otherwise."""

import fcntl
import shutil
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def contents(folder, *patterns):
    """Names and bytes of files in a folder, to be parts of what ``kept`` makes."""
    found = {pattern: [path for path in sorted(folder.glob(pattern)) if path.is_file()] for pattern in patterns}
    assert all(found.values()), f"there is nothing of some of these in {folder.name}: {patterns}"
    return [(path.relative_to(folder).as_posix(), path.read_bytes()) for paths in found.values() for path in paths]


def kept(name, parts, make):
    """A folder that ``make`` has filled, unless it was filled from the same parts before; by one process at a time."""
    folder = ROOT / "build/tests" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    stamp = folder / sha256(repr(parts).encode()).hexdigest()
    with open(folder.with_name(f"{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            stamp.touch()
    return folder
