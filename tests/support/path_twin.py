"""A slow twin of the best way through layers: every edge, in NumPy, without bins or kernels."""

import numpy as np

BREAK = 1e6


def best_cost(layers, steps, periods, first_costs):
    """The cost of the best path: 1e6 for each break, and the sum of joint changes.

    A break leads from the best node before, and a thousandth of its joint changes counts. A layer
    without nodes is passed by a break.
    """
    costs, previous, last = None, None, None
    for layer in layers:
        if costs is None:
            if len(layer):
                costs, previous, last = np.array(first_costs, float), layer, layer
            else:
                previous = None
            continue
        if not len(layer):
            previous = None
            continue
        found = np.empty(len(layer))
        for j, node in enumerate(layer):
            jump = np.abs(node - last[costs.argmin()])
            jump = np.minimum(jump, np.abs(periods - jump)).sum()
            found[j] = costs.min() + BREAK + 1e-3 * jump
            for i in range(len(costs) if previous is not None else 0):
                change = np.abs(node - previous[i])
                change = np.minimum(change, np.abs(periods - change))
                if (change <= steps).all():
                    found[j] = min(found[j], costs[i] + change.sum())
        costs, previous, last = found, layer, layer
    return costs.min()
