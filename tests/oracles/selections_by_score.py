"""Laws of selections by noisy scores, from their definitions."""

from itertools import permutations

import numpy as np


def permute_and_flip(scores, scale):
    """The law of the candidate that is accepted first, each with probability e^(−(largest − own)/scale), in the mean
    over all orders."""
    scores = np.asarray(scores, dtype=float)
    law, accepts = np.zeros(len(scores)), np.exp((scores - scores.max()) / scale)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        none = 1.0
        for i in order:
            law[i] += none * accepts[i] / len(orders)
            none *= 1 - accepts[i]
    return law
