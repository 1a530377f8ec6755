"""A config is refused in one sentence, and numbers may be written as Snakemake hands them on."""

import re
from pathlib import Path

import pytest
import yaml

from study.settings import check_config

CONFIG = yaml.safe_load((Path(__file__).parents[3] / "config/config.yaml").read_text())


def checked(**settings):
    config = {**CONFIG, **settings}
    check_config(config)
    return config


def test_the_default_config_is_understood_as_it_is():
    assert checked() == CONFIG


def test_whole_numbers_may_be_words_or_have_an_exponent():
    config = checked(instances=1e1, seed="7", sizes=["25", 50.0])
    assert (config["instances"], config["seed"], config["sizes"]) == (10, 7, [25, 50])
    assert isinstance(config["instances"], int)


@pytest.mark.parametrize(("setting", "value", "sentence"), [
    ("cases", ["z"], "config.cases[0]: 'z' is not one of"),
    ("instances", 0, "config.instances: 0 is less than the minimum of 1"),
    ("instances", -1, "config.instances: -1 is less than the minimum of 1"),
    ("instances", 2.5, "config.instances: 2.5 is not of type 'integer'"),
    ("sizes", [0], "config.sizes[0]: 0 is less than the minimum of 10"),
    ("sizes", [401], "config.sizes[0]: 401 is greater than the maximum of 400"),
    ("sizes", ["two"], "config.sizes"),
    ("models", ["forest"], "config.models[0]: 'forest' is not one of"),
    ("noise", "loud", "config.noise: 'loud' is not one of"),
    ("tol", float("nan"), "config.tol: nan is not a finite number"),
    ("colour", "red", "config: Additional properties are not allowed ('colour' was unexpected)"),
])
def test_a_bad_config_is_refused_in_a_sentence(setting, value, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence) + ".*see config/config.yaml$"):
        checked(**{setting: value})
