"""Set-up: which Python, which package index, which rpy2, and what it says where something is missing."""

import base64
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from tests.processes import serving

ROOT = Path(__file__).parents[2]
BOOTSTRAP = ROOT / "workflow/bootstrap"
NO_INDEX = "http://127.0.0.1:9/simple"  # the port of a service that nobody runs: refused at once


@pytest.fixture
def project(tmp_path):
    """A project that was never set up, in a folder whose name has a space."""
    folder = tmp_path / "a project"
    (folder / "workflow").mkdir(parents=True)
    shutil.copy(BOOTSTRAP, folder / "workflow")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def bootstrap(project, *arguments, **settings):
    """What set-up answers, with none of the caller's settings of pip, of uv or of its own."""
    home = project.parent / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **settings}
    command = ["bash", project / "workflow/bootstrap", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def functions(*names):
    """Text of functions of the set-up script, each before an empty line, to be run with stand-ins for others."""
    text = BOOTSTRAP.read_text(encoding="utf-8")
    return "\n".join(re.search(rf"^{name}\(\) (\{{[^\n]*\}}$|\{{\n.*?^\}}$(?=\n\n))", text, re.M | re.S)[0]
                     for name in names)


def bash(script, folder):
    return subprocess.run(["bash", "-euc", script], cwd=folder, capture_output=True, text=True, timeout=60)


# ---- which index answers


class Index(SimpleHTTPRequestHandler):
    """A package index that wants a name and a password."""

    def do_GET(self):
        if self.headers.get("Authorization") == "Basic " + base64.b64encode(b"reader:secret").decode():
            super().do_GET()
        else:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic")
            self.end_headers()

    def log_message(self, *_):
        """Keep quiet."""


def write_wheel(folder, name):
    """An empty package as a wheel."""
    with zipfile.ZipFile(folder / f"{name}-99-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}-99.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 99\n")
        wheel.writestr(f"{name}-99.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-99.dist-info/RECORD", "")


@pytest.fixture
def index(tmp_path):
    """Host and port of a running package index that holds the package asked for."""
    folder = tmp_path / "served/simple/tqdm"
    folder.mkdir(parents=True)
    write_wheel(folder, "tqdm")

    def handle(*arguments):
        Index(*arguments, directory=tmp_path / "served")

    with serving(handle) as address:
        yield address


def write_settings(project, text):
    """A pip.conf of the user."""
    file = project.parent / "settings/pip/pip.conf"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return {"XDG_CONFIG_HOME": str(project.parent / "settings")}


@pytest.mark.slow
@pytest.mark.parametrize("section", ["global", "install"])
def test_an_index_with_a_password_in_the_users_settings_is_found(project, index, section):
    settings = write_settings(project, f"[{section}]\nindex-url = http://reader:secret@{index}/simple\n")
    assert "from the package index" in bootstrap(project, "--plan", FUSEDLR_PYTHON=sys.executable, **settings).stdout


@pytest.mark.slow
def test_a_second_index_and_a_netrc_are_found(project, index):
    (project.parent / "home").mkdir()
    (project.parent / "home/.netrc").write_text("machine 127.0.0.1 login reader password secret\n")
    settings = {"PIP_INDEX_URL": NO_INDEX, "PIP_EXTRA_INDEX_URL": f"http://{index}/simple"}
    assert "from the package index" in bootstrap(project, "--plan", FUSEDLR_PYTHON=sys.executable, **settings).stdout


@pytest.mark.slow
@pytest.mark.parametrize("text", [
    "[global]\nindex-url = http://reader:secret@{index}/simple\n[install]\nno-index = true\n",
    "[global]\nindex-url = http://reader:wrong@{index}/simple\n",
], ids=["no-index", "wrong password"])
def test_an_index_that_pip_does_not_ask_or_that_refuses_does_not_count(project, index, text):
    settings = write_settings(project, text.format(index=index))
    assert "from the package index" not in bootstrap(project, "--plan", **settings).stdout


# ---- which Python


def test_a_python_in_a_folder_with_a_space_is_taken(project, tmp_path):
    link = tmp_path / "my pythons/python3"
    link.parent.mkdir()
    link.symlink_to(os.path.realpath(sys.executable))
    told = bootstrap(project, "--plan", FUSEDLR_PYTHON=str(link), FUSEDLR_ROUTE="index")
    assert f"setup: Python: {link}\n" in told.stdout


def test_an_environment_on_another_python_than_the_one_asked_for_is_made_anew(tmp_path):
    for name, base in (("one", "3 11 /usr"), ("two", "3 12 /opt")):
        (tmp_path / name).write_text(f'#!/bin/sh\ncase "$2" in *base_prefix*) echo {base} ;; esac\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(tmp_path / "one")
    script = "VENV=.venv\n" + functions("new_enough", "venv_works", "identity", "venv_fits")
    fits = [bash(f"{script}\nFUSEDLR_PYTHON={python} venv_fits", tmp_path).returncode == 0
            for python in ("", "./one", "./two")]
    assert fits == [True, True, False]


def test_a_python_that_is_none_is_named(project):
    told = bootstrap(project, "--plan", FUSEDLR_PYTHON="/no/such python")
    assert told.returncode == 1
    assert "FUSEDLR_PYTHON=/no/such python is not a Python 3.11 or newer" in told.stderr


def test_debians_packages_are_not_mixed_with_another_python(project, tmp_path):
    other = tmp_path / "python3"
    other.write_text('#!/bin/sh\ncase "$2" in *base_prefix*) echo 3 12 /opt ;; esac\n')
    other.chmod(0o755)
    told = bootstrap(project, "--plan", FUSEDLR_PYTHON=str(other), FUSEDLR_ROUTE="debian")
    assert told.returncode == 1
    assert f"Debian's Python packages fit /usr/bin/python3 alone, not {other}" in told.stderr


def test_a_plan_is_made_before_there_is_a_python(project):
    script = project / "workflow/bootstrap"
    text = script.read_text(encoding="utf-8").replace("SYSTEM_PYTHON=/usr/bin/python3", "SYSTEM_PYTHON=/no/python3")
    script.write_text(re.sub(r'"\$SYSTEM_PYTHON" python3 python3\.\{.*\}', '"$SYSTEM_PYTHON"', text))
    told = bootstrap(project, "--plan")
    assert told.returncode == 0, told.stderr
    assert "Python: none of 3.11 or newer yet" in told.stdout


def test_an_old_bash_is_told_so_before_anything_else(project):
    script = project / "workflow/bootstrap"
    script.write_text("OLD=(3 2)\n" + script.read_text(encoding="utf-8").replace("BASH_VERSINFO[", "OLD["))
    told = bootstrap(project, "--plan")
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("setup: bash 4.4 or newer is needed")


# ---- which rpy2


@pytest.mark.parametrize(("version", "extra"), [
    ("", ""), ("3.6.3", "r-old"), ("4.2.2", "r-old"), ("4.4.3", "r-old"), ("4.5.0", "r"), ("4.10.1", "r"),
    ("5.0.0", "r"),
])
def test_rpy2_fits_the_r_in_use(version, extra, tmp_path):
    assert bash(f"{functions('rpy2_for')}\nrpy2_for '{version}'", tmp_path).stdout.strip() == extra


def test_set_up_goes_on_without_rpy2(tmp_path):
    (tmp_path / ".venv").mkdir()
    stand_ins = ("VENV=.venv; LOG=log; r_version() { echo 4.2.2; }; requirements() { echo rpy2; }; "
                 "install_from_index() { return 1; }")
    script = functions("say", "rpy2_for", "index_packages", "rpy2_package")
    done = bash(f"{script}\n{stand_ins}\nrpy2_package; echo went on", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rpy2 could not be installed" in done.stdout and done.stdout.endswith("went on\n")
    assert list((tmp_path / ".venv").iterdir()) == []


# ---- R's packages from a mirror

FAKE_ADA = """
folder <- commandArgs(trailingOnly = TRUE)
dir.create(file.path(folder, "ada"))
writeLines(c("Package: ada", "Version: 99.1", "Title: Stand-In", "Description: Nothing.", "License: GPL-2",
             "Author: A", "Maintainer: A <a@b.c>"), file.path(folder, "ada", "DESCRIPTION"))
writeLines("", file.path(folder, "ada", "NAMESPACE"))
contrib <- file.path(folder, "src", "contrib")
dir.create(contrib, recursive = TRUE)
setwd(contrib)
system2(file.path(R.home("bin"), "R"), c("CMD", "build", shQuote(file.path(folder, "ada"))), stdout = FALSE)
tools::write_PACKAGES(contrib, type = "source")
"""


def has_ada_elsewhere():
    look = "q(status = !all(sapply(c('rpart', 'glmnet'), requireNamespace)) || requireNamespace('ada'))"
    return subprocess.run(["Rscript", "--vanilla", "-e", look], capture_output=True).returncode != 0


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """A mirror of CRAN in a folder, of which R has the other packages already."""
    if shutil.which("Rscript") is None or has_ada_elsewhere():
        pytest.skip("needs R with rpart and glmnet, and without ada, in its own libraries")
    folder = tmp_path_factory.mktemp("mirror")
    subprocess.run(["Rscript", "--vanilla", "-e", FAKE_ADA, folder], check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture
def served(mirror):
    with serving(functools.partial(SimpleHTTPRequestHandler, directory=mirror)) as address:
        yield f"http://{address}"


def sha256(mirror):
    return hashlib.sha256(next((mirror / "src/contrib").rglob("ada_*.tar.gz")).read_bytes()).hexdigest()


def install(folder, cran, known="none"):
    """Run the part of set-up that installs R's packages, with none of them in reach but R's own."""
    script = functions("say", "stop", "have", "wants_r", "has_r", "logged", "failed", "install_from_cran",
                       "record_sources", "without_all", "r_packages")
    stand_ins = (f"RLIB=rlib; LOG=log; VENV=venv; ADA=99.1 ADA_SHA256={known}; export R_LIBS= FUSEDLR_CRAN='{cran}'; "
                 "has_rpy2() { true; }")
    (folder / "venv/bin").mkdir(parents=True)
    (folder / "venv/bin/python").symlink_to(sys.executable)
    return bash(f"{script}\n{stand_ins}\nr_packages", folder)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["folder", "file URL", "URL"])
def test_a_mirror_is_a_folder_or_a_url_and_what_came_from_it_is_written_down(mirror, served, form, tmp_path):
    done = install(tmp_path, {"folder": mirror, "file URL": f"file://{mirror}", "URL": served}[form], sha256(mirror))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (tmp_path / "log").read_text()
    assert (tmp_path / "rlib/sources.csv").read_text() == f"package,version,sha256\nada,99.1,{sha256(mirror)}\n"
    assert (tmp_path / "rlib/complete").read_text().split() == ["rpart", "glmnet", "ada"]
    assert sorted(path.name for path in (tmp_path / "rlib").iterdir()) == ["ada", "complete", "sources.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(("cran", "code", "words"), [
    ("none", 0, "AdaBoost runs on rpart alone, with the same margins"),
    ("/no/such folder", 1, "FUSEDLR_CRAN=/no/such folder does not answer or lacks R's package ada"),
    ("http://127.0.0.1:9", 1, "FUSEDLR_CRAN=http://127.0.0.1:9 does not answer"),
])
def test_without_a_mirror_ada_is_left_out_and_a_wrong_one_is_named(mirror, cran, code, words, tmp_path):
    done = install(tmp_path, cran)
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert not (tmp_path / "rlib/ada").exists()
    assert code or (tmp_path / "rlib/complete").read_text().split() == ["rpart", "glmnet"]


@pytest.mark.slow
def test_a_release_that_was_replaced_comes_from_the_archive(mirror, tmp_path):
    newer = tmp_path / "newer"
    shutil.copytree(mirror, newer)
    (newer / "src/contrib/Archive/ada").mkdir(parents=True)
    next((newer / "src/contrib").glob("ada_*.tar.gz")).rename(newer / "src/contrib/Archive/ada/ada_99.1.tar.gz")
    done = install(tmp_path, newer, sha256(mirror))
    assert (done.returncode, done.stderr) == (0, ""), (tmp_path / "log").read_text()
    assert (tmp_path / "rlib/complete").read_text().split() == ["rpart", "glmnet", "ada"]


@pytest.mark.slow
def test_another_file_under_the_name_of_ada_is_not_installed(mirror, tmp_path):
    done = install(tmp_path, mirror, 64 * "0")
    assert done.returncode == 1
    assert "the file of R's package ada 99.1 is not the one that is known" in done.stderr
    assert f"has the sha256 {sha256(mirror)}" in done.stderr
    assert not (tmp_path / "rlib/ada").exists() and not (tmp_path / "rlib/complete").exists()


@pytest.mark.slow
def test_no_profile_of_the_user_is_read(mirror, tmp_path, monkeypatch):
    (tmp_path / "profile.R").write_text("stop('a profile was read')\n")
    monkeypatch.setenv("R_PROFILE_USER", str(tmp_path / "profile.R"))
    done = install(tmp_path, mirror, sha256(mirror))
    assert done.returncode == 0, (tmp_path / "log").read_text()


def test_actions_are_pinned_by_commit():
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    used = [action for path in files for action in re.findall(r"uses: (?!\./)(\S+)", path.read_text(encoding="utf-8"))]
    assert used and not [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)]
