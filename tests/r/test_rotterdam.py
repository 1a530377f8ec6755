"""The page on survival runs as printed. ``python -m tests.r.test_rotterdam`` writes its outputs and figures anew."""

from pathlib import Path

import pytest

from tests.docs.walk import check_figures, check_printed, run, write_anew

pytestmark = pytest.mark.r
PAGE = Path(__file__).parents[2] / "docs" / "rotterdam.md"


@pytest.fixture(scope="module")
def walk(_missing_part, tmp_path_factory):
    if _missing_part:
        pytest.skip(_missing_part)
    folder = tmp_path_factory.mktemp("rotterdam")
    return run(PAGE.read_text(encoding="utf-8"), folder), folder


@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
def test_the_code_prints_what_the_page_shows(walk):
    check_printed(PAGE.read_text(encoding="utf-8"), walk[0], atol=2.1e-2)


def test_every_figure_of_the_page_is_drawn_and_stored(walk):
    check_figures(PAGE, walk[1], 3)


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_tied_hazards_of_narrow_intervals_are_close_to_cox():
    """A sanity check: many intervals and equal effects are nearly proportional hazards, as R's coxph fits them."""
    from fusedlr import FusedLogit
    from fusedlr.r import from_r
    from rpy2.robjects import r

    men = from_r("survival::veteran")
    features = men[["karno", "age", "trt"]].astype(float)
    tied = FusedLogit.from_survival(men["time"], men["status"], features, breaks=40).fit(0, 0, 1e6)
    cox = from_r(r("as.data.frame(summary(survival::coxph(survival::Surv(time, status) ~ karno + age + trt, "
                   "survival::veteran))$coefficients)"))
    assert (abs(tied.coefs.iloc[:, 0] - cox["coef"]) < 0.5 * cox["se(coef)"]).all()


if __name__ == "__main__":
    write_anew(PAGE)
