"""300 problems with the results of the reference implementation of ``ccd_solve``."""

import json
from pathlib import Path

import numpy as np
import pytest

from jointwise import CCDConfig, DHJoint, ccd_solve, fk_position

CASES = json.loads((Path(__file__).parent / "data" / "ccd_cases.json").read_text())


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{i}-{case['chain']}" for i, case in enumerate(CASES)]
)
def test_the_result_is_that_of_the_reference_implementation(case):
    arm = [DHJoint(j["theta"], j["d"], j["a"], j["alpha"], j["type"]) for j in case["joints"]]
    start = case["initial_angles"]
    np.testing.assert_allclose(fk_position(arm, start), case["fk_of_initial"], atol=1e-12)

    config = CCDConfig(case["max_iterations"], case["tolerance"])
    result = ccd_solve(arm, case["target"], start, config)
    expected = case["expected"]
    np.testing.assert_allclose(result.joint_angles, expected["joint_angles"], atol=1e-6)
    assert result.position_error == pytest.approx(expected["position_error"], abs=1e-6)
    assert result.converged == expected["converged"]
    assert result.iterations == expected["iterations"]
