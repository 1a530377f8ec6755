"""The paper's claims, one file each: what the paper says, the rule that decides it, the verdict and a figure.

Claims 1 to 8 and their rules were written down before the study was first run; the others were added after it, when
the paper was read once more sentence by sentence, and say so, as does a rule that was changed afterwards. Nothing but
its rule and its stability decides a verdict. Comparisons are paired over the instances of a case, as
:mod:`study.paired` says.

A new claim is a file with a ``CLAIM`` and a line here.
"""

from study.claims import (
    claim_01_fused_models_lead,
    claim_02_peak_in_the_middle,
    claim_03_little_help,
    claim_04_near_the_bayes_risk,
    claim_05_slight_gain_of_l2,
    claim_06_low_l2,
    claim_07_recovery,
    claim_08_growth_with_features,
    claim_09_fusion_tuned_to_zero,
    claim_10_small_but_informative,
    claim_11_no_difference_of_l2,
    claim_12_larger_groups,
    claim_13_grouping_effect,
    claim_14_efficient_admm,
)

__all__ = ["CLAIMS"]

#: The claims of all files that are imported above, in the order of their names.
CLAIMS = [module.CLAIM for name, module in sorted(globals().items()) if name.startswith("claim_")]
