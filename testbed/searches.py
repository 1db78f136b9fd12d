"""Search for poses where a closed form would solve them, to compare with it."""

from dataclasses import replace

import numpy as np

from jointwise import Chain, SolveConfig


def searched(chain: Chain, targets: np.ndarray, restarts: int) -> np.ndarray:
    """(m,) whether a search without a closed form reaches each pose."""
    config = SolveConfig(max_restarts=restarts, search_unreached=False)
    return without_closed_form(chain).solve_batch(targets, config=config, threads=1).converged


def without_closed_form(chain: Chain) -> Chain:
    """The same arm, which is searched."""
    return replace(chain, arm=replace(chain.arm, closed_form=None))
