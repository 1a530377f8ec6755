"""One R for each process: quiet, clean, and with a sentence instead of a crash."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fusedlr.problem import Problem
from fusedlr.r import RError, RMissingError, RWarning, boost, from_r, glmnet, session

pytestmark = pytest.mark.r

JOB = """
import sys
import numpy as np
from fusedlr.r import boost

def margins(seed):
    X = np.random.default_rng(seed).normal(size=(60, 5))
    return boost(X, (X[:, 0] > 0).astype(float), X, seed, iterations=10).margins.tobytes()
"""


def test_importing_starts_no_r_and_needs_no_rpy2(in_new_process):
    code, out, err = in_new_process("import sys, fusedlr.r.ada, fusedlr.r.glmnet; print('rpy2' in sys.modules)")
    assert (code, out) == (0, "False\n"), err


def test_an_error_of_r_comes_in_r_s_words():
    with pytest.raises(RError, match=r"R stopped in sqrt\(\): non-numeric argument to mathematical function"):
        session.call("function() sqrt('a')")
    assert session.call("function() 1")[0] == 1


def test_a_warning_of_r_comes_in_r_s_words_and_points_to_the_caller():
    with pytest.warns(RWarning, match="NaNs produced") as heard:
        assert np.isnan(session.call("function() log(-1)")[0])
    assert heard[0].filename == __file__


def test_what_r_prints_goes_to_the_logger_only(caplog, capfd):
    with caplog.at_level(logging.INFO, logger="fusedlr.r"):
        session.call("function() { cat('one\\ntw'); cat('o\\n'); message('three'); cat('four') }")
    assert [record.getMessage() for record in caplog.records] == ["one", "two", "three", "four"]
    assert capfd.readouterr() == ("", "")


def test_a_missing_package_is_told_with_the_way_out():
    with pytest.raises(RMissingError, match="R's package 'nonesuch' is not installed: install.packages"):
        session.call("function() 1", packages=["nonesuch"])
    assert not session.has_package("nonesuch")


def test_source_that_r_cannot_read_is_an_error():
    with pytest.raises(RError, match="cannot read"):
        session.call("function( {")


def test_values_go_to_r_and_come_back():
    matrix = np.arange(6.0).reshape(2, 3)
    sent = {"matrix": matrix, "rows": matrix[::-1, ::2], "count": 3, "share": 0.5, "yes": True, "word": "é",
            "words": ["a", None], "nothing": None, "nested": {"whole": np.array([1, 2], dtype=np.int32)}}
    back = session.call("function(...) list(...)", **sent)
    np.testing.assert_array_equal(back["matrix"], matrix)
    np.testing.assert_array_equal(back["rows"], matrix[::-1, ::2])
    assert [back[name][0] for name in ("count", "share", "yes", "word")] == [3, 0.5, True, "é"]
    assert back["words"] == ["a", None] and back["nothing"] is None
    assert back["nested"]["whole"].tolist() == [1, 2]


def test_missing_values_of_r_come_as_nan_and_factors_do_not_come():
    back = session.call("function() list(c(1L, NA), c(NA, TRUE), c(NA, 2.5), c(NA, 'a'))")
    np.testing.assert_array_equal(back[:3], [[1, np.nan], [np.nan, 1], [np.nan, 2.5]])
    assert back[3] == [None, "a"]
    with pytest.raises(TypeError, match="factor"):
        session.call("function() factor('a')")


def test_what_r_cannot_take_is_refused():
    with pytest.raises(TypeError, match="R takes numbers, strings and arrays"):
        session.call("function(x) x", x=np.zeros((1, 1, 1)))


def test_a_second_thread_is_refused_with_a_sentence():
    with ThreadPoolExecutor(1) as pool, pytest.raises(RError, match="main thread only.*use processes"):
        pool.submit(session.call, "function() 1").result()


def test_the_user_s_handler_of_ctrl_c_stays(in_new_process):
    """Where this starts R; an R that somebody else started through rpy2 may have brought rpy2's own."""
    code, out, err = in_new_process(
        "import signal; from fusedlr.r import session; before = signal.getsignal(signal.SIGINT)\n"
        "session.call('function() 1'); print(signal.getsignal(signal.SIGINT) is before)")
    assert (code, out) == (0, "True\n"), err


def test_ctrl_c_stops_r():
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt, match="^$"):
        session.call("function() repeat Sys.sleep(0.01)")
    assert time.monotonic() - start < 10
    assert session.call("function() 1 + 1")[0] == 2


def test_profile_and_workspace_of_the_folder_are_not_read(in_new_process, tmp_path):
    (tmp_path / ".Rprofile").write_text("options(digits = 3); stop('profile read')\n")
    subprocess.run(["Rscript", "--vanilla", "-e", "leak <- 1; save.image()"], cwd=tmp_path, check=True)
    code, out, err = in_new_process("from fusedlr.r import session; print(session.call('function() ls(globalenv())'), "
                                    "session.call('function() c(getOption(\"digits\"), interactive())'))")
    assert (code, out) == (0, "[] [7 0]\n"), err


def test_packages_come_from_the_project_and_never_from_the_working_directory(in_new_process, tmp_path):
    (tmp_path / ".rlib").mkdir()
    (tmp_path / "mine").mkdir()
    code, out, err = in_new_process("from fusedlr.r import session; print(*session._library_folders(), sep='\\n')",
                                    FUSEDLR_RLIB=str(tmp_path / "mine"))
    assert code == 0, err
    first, *others = out.split("\n")
    assert first == str((tmp_path / "mine").resolve())
    assert not any(folder.startswith(str(tmp_path.resolve())) for folder in others)


def test_packages_are_loaded_without_a_trace_in_the_user_s_r():
    look = "function() list(search(), .libPaths(), ls(globalenv()))"
    before = session.call(look)
    X = np.random.default_rng(1).normal(size=(40, 2))
    boost(X, X[:, 0] > 0, X, seed=1, iterations=2)
    problem = Problem.wide(X, X[:, 0] > 0.3)
    glmnet.elastic_net(problem, problem.penalty(1, 0.5, 0))
    assert session.call(look) == before


def test_names_in_the_user_s_workspace_change_nothing():
    X = np.random.default_rng(1).normal(size=(60, 3))
    margins = boost(X, X[:, 0] > 0, X, seed=1, iterations=5).margins
    names = ["predict", "local", "c", "set.seed", "list", "as.numeric", "data.frame", "tryCatch"]
    session.call("""function(names) {
        for (name in names) assign(name, function(...) stop("the user's own"), globalenv())
    }""", names=names)
    try:
        np.testing.assert_array_equal(boost(X, X[:, 0] > 0, X, seed=1, iterations=5).margins, margins)
        assert from_r("airquality").shape == (153, 6)
    finally:
        session.call("function(names) rm(list = names, envir = globalenv())", names=names)


def test_a_faulty_profile_and_paths_of_a_cluster_do_not_stop_r(in_new_process, tmp_path):
    faulty = tmp_path / "faulty"
    faulty.write_text("stop('the profile is faulty')\n")
    (tmp_path / ".Rprofile").write_text("stop('the profile is faulty')\n")
    code, out, err = in_new_process(textwrap.dedent("""
        import os, warnings
        warnings.simplefilter("error")
        before = dict(os.environ)
        from fusedlr.r import session
        print(session.call("function() 1 + 1")[0])
        print({name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name)} <= {"R_HOME"})
    """), HOME=str(tmp_path), R_PROFILE_USER=str(faulty), R_ENVIRON_USER=str(faulty), LD_LIBRARY_PATH=str(tmp_path))
    assert (code, out) == (0, "2.0\nTrue\n"), err


def test_sigterm_removes_the_temporary_folder(in_new_process, tmp_path):
    code, out, err = in_new_process(textwrap.dedent("""
        import os, signal
        from fusedlr.r import session
        print(os.path.isdir(session.call("function() tempdir()")[0]), flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
    """), TMPDIR=str(tmp_path))
    assert (code, out) == (-signal.SIGTERM, "True\n"), err
    assert not list(tmp_path.glob("Rtmp*"))


def test_sigterm_of_a_forked_child_leaves_the_parent_s_folder(in_new_process, tmp_path):
    code, out, err = in_new_process(textwrap.dedent("""
        import os, signal
        from fusedlr.r import session
        folder = session.call("function() tempdir()")[0]
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        print(os.waitpid(child, 0)[1], os.path.isdir(folder))
    """), TMPDIR=str(tmp_path))
    assert (code, out) == (0, f"{int(signal.SIGTERM)} True\n"), err


def test_names_beyond_ascii_survive_the_locale_c(in_new_process):
    code, out, err = in_new_process(textwrap.dedent("""
        import pandas as pd
        from fusedlr.r import from_r, to_r
        columns = {"gr\\xf6\\xdfe": [1.0, 2.0], "wort": ["\\xe9", None], "art": pd.Categorical(["\\xfc", "x"])}
        frame = pd.DataFrame(columns, ["\\xe4", "b"])
        pd.testing.assert_frame_equal(from_r(to_r(frame)), frame)
        print("same")
    """), LC_ALL="C", LANG="C", PYTHONUTF8="0")
    assert (code, out) == (0, "same\n"), err


def test_an_environment_without_r_gets_a_sentence(in_new_process):
    code, _, err = in_new_process("from fusedlr.r import session; from rpy2.rinterface_lib import openrlib; "
                                  "openrlib.R_HOME = None; session.call('x')")
    assert code == 1 and "RMissingError: R could not be started: does it start" in err


def test_an_environment_without_rpy2_gets_a_sentence(in_new_process):
    code, _, err = in_new_process("import sys; sys.modules['rpy2'] = None\n"
                                  "from fusedlr.r import session; session.call('x')")
    assert code == 1 and "RMissingError: rpy2 is not installed or does not fit the installed R: pip install" in err


def test_an_r_that_the_user_started_is_used_and_its_console_left_alone(in_new_process):
    code, out, err = in_new_process(textwrap.dedent("""
        import rpy2.robjects as ro
        ro.r("mine <- 5")
        from fusedlr.r import session
        print(session.call("function() { cat('hidden'); mine }")[0])
        ro.r("cat('seen\\n')")
    """))
    assert (code, out) == (0, "5.0\nseen\n"), err


def test_starting_r_leaves_the_environment_and_no_temporary_folder(in_new_process, tmp_path):
    code, out, err = in_new_process(textwrap.dedent("""
        import os
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        from fusedlr.r import session
        if __name__ == "__main__":
            session.call("function() tempdir()")
            print([name for name in os.environ if name.endswith("NUM_THREADS")])
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                pool.submit(session.call, "function() 1").result()
    """), TMPDIR=str(tmp_path), OPENBLAS_NUM_THREADS="1")
    assert (code, out) == (0, "['OPENBLAS_NUM_THREADS']\n"), err
    assert not list(tmp_path.glob("Rtmp*"))


def run_jobs(in_new_process, body):
    return in_new_process(JOB + textwrap.dedent(body))


@pytest.mark.parametrize("first", ["", "margins(0)"])
def test_forked_processes_give_the_same_numbers(in_new_process, first):
    code, out, err = run_jobs(in_new_process, f"""
        from multiprocessing import get_context
        {first}
        with get_context("fork").Pool(2) as pool:
            there = pool.map(margins, range(4))
        print(there == [margins(seed) for seed in range(4)])
    """)
    assert (code, out) == (0, "True\n"), err


def test_spawned_processes_give_the_same_numbers(tmp_path, in_new_process):
    (tmp_path / "job.py").write_text(JOB)
    code, out, err = in_new_process(textwrap.dedent("""
        import sys
        sys.path.insert(0, ".")
        from multiprocessing import get_context
        from job import margins
        if __name__ == "__main__":
            with get_context("spawn").Pool(2) as pool:
                there = pool.map(margins, range(4))
            print(there == [margins(seed) for seed in range(4)])
    """))
    assert (code, out) == (0, "True\n"), err


def test_a_fork_from_another_thread_is_refused_with_a_sentence(in_new_process):
    code, out, err = run_jobs(in_new_process, """
        import os, threading
        from fusedlr.r import RError
        margins(0)

        def fork():
            child = os.fork()
            if child == 0:
                try:
                    margins(0)
                except RError as error:
                    print(error, flush=True)
                os._exit(0)
            os.waitpid(child, 0)

        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
    """)
    assert code == 0 and "copy of R is broken" in out and "spawn" in out, err


def zombies():
    """Dead children of this process that nobody has waited for."""
    stats = [path.read_text().rsplit(")", 1)[1].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    return [stat for stat in stats if stat[0] == "Z" and int(stat[1]) == os.getpid()]


@pytest.mark.slow
def test_fifty_jobs_four_at_a_time_end_well_with_the_same_numbers():
    source = JOB + "print(margins(7).hex())"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}

    def job(_):
        return subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(job, range(50)))
    assert {result.returncode for result in done} == {0}, [result.stderr for result in done if result.returncode]
    assert len({result.stdout for result in done}) == 1 and not any(result.stderr for result in done)
    assert not zombies()
