"""The config of a run: numbers become integers, and an error is one sentence."""

import math
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from study.cases import CASES
from study.models import MODELS

__all__ = ["check_config"]

SCHEMA = Path(__file__).parents[1] / "schemas/config.schema.yaml"


def check_config(config: dict[str, Any]) -> None:
    """Turn numbers that Snakemake passes as strings, as in --config sizes=[25,50], and 1e3 into integers.

    Raises ValueError for a config that the study does not understand.
    """
    for name in ("seed", "instances", "sensitivity", "readings", "groups", "splits"):
        config[name] = _whole(config.get(name))
    for name in ("sizes", "rows"):
        if isinstance(config.get(name), list):
            config[name] = [_whole(size) for size in config[name]]
    wrong = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(_schema()).iter_errors(config))
    if wrong is not None:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in wrong.absolute_path)
        raise ValueError(f"config{where}: {wrong.message}; see config/config.yaml")
    if bool(config.get("data")) != bool(config.get("outcomes")):
        raise ValueError("config: data=my.csv and outcomes=[first,second] go together; see config/README.md")
    if not math.isfinite(config["tol"]):
        raise ValueError(f"config.tol: {config['tol']} is not a finite number; see config/config.yaml")


def _whole(value):
    is_whole = str(value).isdigit() or isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def _schema():
    """The schema, with the names of the tables of cases and models."""
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    for setting, known in (("cases", CASES), ("models", MODELS)):
        schema["properties"][setting]["items"]["enum"] = list(known)
    return schema
