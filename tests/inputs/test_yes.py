"""Which of two labels is yes."""

import warnings

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, YesWarning

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 2))
TRUE = X[:, 0] + RNG.normal(size=60) > 0
OTHER = X[:, 0] + RNG.normal(size=60) > 0


def said(no, yes, truth=TRUE):
    return np.where(truth, yes, no)


MEANT = [("no", "Yes"), ("No", "yes"), ("NO", "YES"), ("n", "y"), ("FALSE", "TRUE"), ("control", "case"),
         ("none", "event"), ("alive", "dead"), ("survived", "died"), ("negative", "positive"), ("absent", "present"),
         ("0", "1"), ("healthy", "diseased"), ("low", "high"), ("censored", "death"), ("no relapse", "relapse"),
         ("unexposed", "exposed"), ("not tested", "tested"), ("nonsmoker", "smoker"), ("alive ", " Dead")]


@pytest.mark.parametrize("pair", MEANT, ids=" ".join)
def test_words_that_mean_yes_are_yes_whatever_their_order_and_case(pair):
    plain, categories = said(*pair), pd.Series(said(*pair)).astype("category")
    assert FusedLogit(plain, X).labels == FusedLogit(categories, X).labels == [pair]
    assert FusedLogit.from_long(plain, X, np.arange(60) % 2).labels == [pair] * 2
    np.testing.assert_array_equal(FusedLogit(plain, X).endog["y"], TRUE)


@pytest.mark.parametrize("pair", [("B", "c"), ("b", "C"), ("left", "right"), ("M", "w")], ids=" ".join)
def test_other_words_are_in_the_order_of_the_alphabet_upper_and_lower_case_alike(pair):
    assert FusedLogit(said(*pair), X).labels == [pair]
    assert FusedLogit(said(*pair[::-1]), X).labels == [pair]


def test_categories_in_an_order_of_the_users_keep_it():
    given = pd.Categorical(said("yes", "no"), categories=["yes", "no"])
    assert FusedLogit(given, X).labels == [("yes", "no")]
    ordered = pd.Categorical(said("control", "case"), categories=["case", "control"], ordered=True)
    assert FusedLogit(ordered, X).labels == [("case", "control")]


@pytest.mark.parametrize(("labels", "yes", "pair"), [
    (said("yes", "no"), "no", ("yes", "no")),
    (said("left", "right"), "left", ("right", "left")),
    (said(1, 2), 2, (1, 2)),
    (said(1, 2), 1, (2, 1)),
    (TRUE, False, (True, False)),
    (pd.Series(said("a", "b")).astype("category"), "a", ("b", "a")),
    (np.full(60, "no"), "yes", ("no", "yes")),
])
def test_the_user_may_say_which_is_yes(labels, yes, pair):
    assert FusedLogit(labels, X, yes=yes).labels == [pair]


def test_turning_yes_and_no_round_turns_the_sign_of_every_coefficient():
    Y = pd.DataFrame({"one": said("no", "yes"), "two": said("no", "yes", OTHER)})
    forth, back = (FusedLogit(Y, X, yes=yes).fit(0.5, 0.1, 0.3) for yes in ("yes", "no"))
    np.testing.assert_allclose(back.params, -forth.params, atol=1e-7)


def test_yes_may_differ_between_tasks_by_name_and_by_place():
    Y = pd.DataFrame({"one": said("b", "a"), "two": said("c", "d", OTHER), "three": said("no", "yes")})
    expected = [("b", "a"), ("c", "d"), ("no", "yes")]
    assert FusedLogit(Y, X, yes={"one": "a", "two": "d"}).labels == expected
    assert FusedLogit(Y, X, yes=["a", "d", "yes"]).labels == expected
    data = Y.assign(x=X[:, 0])
    by_name = pd.Series({"one": "a", "two": "d"})
    assert FusedLogit.from_formula("one + two ~ x", data, yes=by_name).labels == expected[:2]
    assert FusedLogit.from_long(Y["one"], X, np.arange(60) % 2, yes="a").labels == [("b", "a")] * 2


UNLIKE = {
    "other words in order by chance": {"one": said("left", "right"), "two": said("no", "yes", OTHER)},
    "two pairs in order by chance": {"one": said("left", "right"), "two": said("down", "up", OTHER)},
    "the same words turned round": {"one": pd.Categorical(said("no", "yes"), ["no", "yes"]),
                                    "two": pd.Categorical(said("yes", "no", OTHER), ["yes", "no"])},
}


@pytest.mark.parametrize("labels", UNLIKE.values(), ids=UNLIKE)
def test_tasks_that_may_have_opposite_signs_are_announced_where_the_user_stands(labels):
    data = pd.DataFrame(labels).assign(x=X[:, 0])
    for build in (lambda: FusedLogit(data[["one", "two"]], X), lambda: FusedLogit.from_formula("one + two ~ x", data)):
        with pytest.warns(YesWarning, match="in task 'one' but .* in task 'two'.* say which label is yes") as caught:
            model = build()
        assert caught[0].filename == __file__
    chosen = dict(zip(model.endog_names, (yes for _, yes in model.labels)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FusedLogit(data[["one", "two"]], X, yes=chosen).labels == model.labels


def test_words_of_known_meaning_are_not_announced():
    Y = pd.DataFrame({"one": said("control", "case"), "two": said("no", "yes", OTHER), "three": TRUE.astype(int)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FusedLogit(Y, X)
    one, two = model.fit(0, 0, 0), FusedLogit(np.column_stack([TRUE, OTHER, TRUE]), X).fit(0, 0, 0)
    np.testing.assert_allclose(one.params, two.params, rtol=1e-9)


def test_the_summary_says_which_label_is_yes():
    text = FusedLogit(said("control", "case"), X).fit(0.1, 0.1).summary().as_text()
    assert "Yes is" in text
    assert "case" in text and "control" not in text


@pytest.mark.parametrize(("options", "message"), [
    ({"yes": "maybe"}, "yes must be one of two labels of task 'one', found yes='maybe' and the labels"),
    ({"yes": ["yes"]}, "yes must be one label, or one for each of 2 tasks, found 1"),
    ({"yes": {"three": "yes"}}, r"yes names tasks that endog does not have, found \['three'\]"),
])
def test_a_yes_that_no_task_has_is_refused(options, message):
    Y = pd.DataFrame({"one": said("no", "yes"), "two": said("no", "yes", OTHER)})
    with pytest.raises(ValueError, match=message):
        FusedLogit(Y, X, **options)


def test_yes_does_not_go_with_levels():
    data = pd.DataFrame({"grade": np.arange(60) % 3, "x": X[:, 0]})
    with pytest.raises(ValueError, match="yes goes with yes/no labels"):
        FusedLogit.from_formula("grade ~ x", data, levels=[0, 1, 2], yes=1)
