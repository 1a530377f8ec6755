"""What a run makes follows from its config."""

from pathlib import Path

import pytest
import yaml

from study.cases import GROUPS
from study.plan import Plan

CONFIG = yaml.safe_load((Path(__file__).parents[3] / "config/config.yaml").read_text())


def plan(*absent, **settings):
    return Plan({**CONFIG, **settings}, absent)


def test_the_default_config_is_the_paper_and_the_experiment_on_groups():
    counts = {kind: len(files) for kind, files in plan().jobs().items()}
    # 8 cases of 20 instances and 6 of the experiment; under other readings two draws of the correlated cases, and three
    # ways to fit all.
    assert (counts["simulate"], counts["grid"]) == (280 + 160, 280 + 160 + 480)
    assert (counts["adaboost"], counts["small bags"]) == (160, 40)
    assert (counts["scores"], counts["tables"], counts["figures"]) == (14, 12, 18)


def test_a_preview_tries_no_other_readings_and_no_groups():
    preview = plan(instances=9)
    assert not (preview.few or preview.read_cases or preview.group_cases or preview.timed)
    assert len(preview.figures) == 4
    assert {kind for kind, files in preview.jobs().items() if not files} == {"small bags"}


def test_an_absent_model_is_left_out_and_told():
    assert plan("adaboost").absent == ["adaboost"]
    assert "adaboost" not in plan("adaboost").models
    assert "adaboost" not in plan("adaboost").jobs()
    assert plan("adaboost", models=["fused_l1"]).absent == []


@pytest.mark.parametrize(("without", "part"), [
    ("elastic_net", "read_cases"), ("fused_l1", "group_cases"), ("adaboost", "small_bag_cases")])
def test_a_part_needs_the_models_that_it_compares(without, part):
    assert getattr(plan(), part)
    assert not getattr(plan(models=[model for model in CONFIG["models"] if model != without]), part)


def test_files_of_one_case_and_value_follow_each_other():
    few = plan(instances=2)
    assert few.files("{model}/{case}/{instance}", "a", "b", model=["x", "y"]) == [
        "x/a/1", "x/a/2", "y/a/1", "y/a/2", "x/b/1", "x/b/2", "y/b/1", "y/b/2"]
    assert plan(sensitivity=2).few_files("{{reading}}/{case}/{instance}", case=["a", "b"]) == [
        "{reading}/a/1", "{reading}/b/1", "{reading}/a/2", "{reading}/b/2"]


def test_the_experiment_has_sizes_and_instances_of_its_own_and_no_foreign_model():
    case, small = next(iter(GROUPS)), plan(groups=3)
    assert small.files("{instance}", case) == ["1", "2", "3"]
    assert small.sizes_of(case) == [50, 100, 200]
    assert (small.foreign_of(case), small.foreign_of("a")) == ([], ["adaboost"])


def test_a_preview_may_ask_for_a_part_with_as_many_instances():
    small = plan(instances=2, readings=2)
    assert ("ring", "a") in small.read_cases
    assert ("noise", "a") not in small.read_cases, "the noise is on copied features"
    assert list(small.of_readings) == [1, 2]
    assert not small.group_cases
