"""What the tests of dominating pairs share: profiles by their definition."""

from math import exp

import numpy as np

from dpcalc.pld.pair import log_q


def delta(atoms, epsilon):
    """E_P[(1 − e^{ε−ℓ})₊] of finitely many losses, at any ε."""
    loss, p = np.array(atoms.losses), np.exp(atoms.log_p)
    above = loss > epsilon
    return float((p[above] * -np.expm1(epsilon - loss[above])).sum()) + exp(atoms.log_infinite)


def masses(pair, edges):
    """The P-masses, the Q-masses and the losses of cells."""
    log_p, loss = pair.masses(edges)
    return np.exp(log_p), np.exp(log_q((log_p, loss))), loss


def delta_of_cells(pair, edges, epsilon):
    """Σ (p − e^ε q)₊ over cells with ε among their edges: exact, as both masses are."""
    p, q, _ = masses(pair, np.unique(np.append(edges, epsilon)))
    return float(np.maximum(p - exp(epsilon) * q, 0.0).sum()) + exp(pair.log_infinite)
