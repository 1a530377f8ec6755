"""Set-up chooses its route, its packages and its words rightly, on machines made of stand-in commands."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.processes import serving

BOOTSTRAP = Path(__file__).parents[1] / "workflow/bootstrap"


class Machine:
    """A folder with the set-up script and stand-ins for the commands that it asks of a system."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "FUSEDLR_"))}
        # None of this machine's own settings of pip, in variables or in files.
        self.environment.update(FUSEDLR_PYTHON=sys.executable, PATH=f"{folder}/bin:{os.environ['PATH']}",
                                PIP_CONFIG_FILE=os.devnull)
        (folder / "bin").mkdir()
        (folder / "workflow").mkdir()
        mine = f"SYSTEM_PYTHON={shlex.quote(sys.executable)}"  # whatever the tests run on
        script = BOOTSTRAP.read_text(encoding="utf-8").replace("SYSTEM_PYTHON=/usr/bin/python3", mine)
        self.executable("workflow/bootstrap", script)
        self.lacks_packages()
        self.command("apt-get", 'echo "$@" >>asked; exit 1')
        self.command("sudo", "exit 1")
        self.command("id", "echo 1000")
        self.command("Rscript", "printf 4.2.2")

    def executable(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def command(self, name, body):
        self.executable(f"bin/{name}", f"#!/bin/sh\n{body}\n")

    def lacks_packages(self, *names):
        absent = "".join(f"{name}) ;; " for name in names)
        self.command("dpkg-query", f'for name; do case $name in {absent} *) echo "installed $name" ;; esac; done')

    def setup(self, *options, **settings):
        return subprocess.run(
            [self.folder / "workflow/bootstrap", *options], env={**self.environment, **settings},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/",
        )

    def plan(self, **settings):
        done = self.setup("--plan", **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


class SmallIndex(BaseHTTPRequestHandler):
    """A package index that knows setuptools."""

    def do_GET(self):
        known = self.path == "/simple/setuptools/"
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(b'<a href="setuptools-80.0-py3-none-any.whl">setuptools</a>' if known else b"no")

    def log_message(self, *_):
        pass


@pytest.fixture
def index():
    with serving(SmallIndex) as address:
        yield f"http://{address}/simple"


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"PIP_NO_INDEX": "1"}, {"FUSEDLR_ROUTE": "debian"}], ids=str)
def test_an_index_that_is_not_wanted_is_left_alone(machine, index, settings):
    assert "Python packages: Debian's own" in machine.plan(PIP_INDEX_URL=index, **settings)


@pytest.mark.slow
def test_a_server_that_is_no_index_does_not_count(machine, index):
    assert "Debian's own" in machine.plan(PIP_INDEX_URL=index + "/elsewhere")


@pytest.mark.slow
def test_an_index_that_is_silent_costs_seconds(machine):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        machine.plan(PIP_NO_INDEX="1")
        usual = time.monotonic() - start  # longer on a busy machine
        assert "Debian's own" in machine.plan(PIP_INDEX_URL=f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
    assert time.monotonic() - start < 15 + 4 * usual


def test_missing_packages_are_named_where_nobody_may_install_them(machine):
    machine.lacks_packages("r-cran-glmnet", "pandoc")
    done = machine.setup(FUSEDLR_ROUTE="debian")
    assert done.returncode == 1
    assert "apt-get install --no-install-recommends pandoc r-cran-glmnet\n" in done.stderr
    assert not (machine.folder / "asked").exists()
    assert not (machine.folder / ".venv").exists()


def test_root_installs_what_is_missing_and_failure_is_told(machine):
    machine.command("id", "echo 0")
    machine.lacks_packages("pandoc")
    done = machine.setup(FUSEDLR_ROUTE="index")
    assert done.returncode == 1
    assert "apt-get could not install them" in done.stderr
    assert (machine.folder / "asked").read_text().splitlines()[-1].endswith(" pandoc")


def test_debian_route_wants_more_system_packages(machine):
    machine.command("dpkg-query", "exit 1")
    wanted = {route: machine.plan(FUSEDLR_ROUTE=route).split() for route in ("index", "debian")}
    assert "python3-statsmodels" in wanted["debian"]
    assert "python3-statsmodels" not in wanted["index"]


@pytest.mark.parametrize("route", ["index", "debian"])
def test_without_r_no_package_of_r_is_wanted(machine, route):
    machine.command("dpkg-query", "exit 1")
    assert "r-base-core" in machine.plan(FUSEDLR_ROUTE=route)
    wanted = machine.plan(FUSEDLR_ROUTE=route, FUSEDLR_R="none")
    assert "pandoc" in wanted and "setup: R: none" in wanted and not re.search(r"\br-|rpy2\b", wanted)


def test_what_commands_say_goes_into_a_log_whose_end_is_shown_when_one_fails(machine):
    machine.command("id", "echo 0")
    machine.lacks_packages("pandoc")
    machine.command("apt-get", "echo much to read; echo no such package >&2; exit 1")
    done = machine.setup(FUSEDLR_ROUTE="index")
    assert (done.returncode, "much to read" in done.stdout) == (1, False)
    assert "apt-get could not install them; the end of logs/setup.log:" in done.stderr
    assert "    no such package\n" in done.stderr
    assert "much to read" in (machine.folder / "logs/setup.log").read_text()


@pytest.mark.parametrize(("settings", "words"), [
    ({"FUSEDLR_ROUTE": "pypi"}, "FUSEDLR_ROUTE must be 'index' or 'debian', not 'pypi'"),
    ({"FUSEDLR_R": "nun"}, "FUSEDLR_R must be 'none' or left out, not 'nun'"),
])
def test_bad_settings_are_refused_in_words(machine, settings, words):
    done = machine.setup("--plan", **settings)
    assert done.returncode == 1
    assert words in done.stderr
