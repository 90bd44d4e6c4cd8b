"""What several tests know: the shape of every JSON answer, and the best attack on Gaussian noise."""

from math import erfc, sqrt
from statistics import NormalDist

NUMBER_OR_INF = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
ENVELOPE = {
    "type": "object",
    "required": ["schema", "version", "command", "parameters", "result", "status", "bound", "solved", "guarantee",
                 "bounds",
                 "adjacency", "released", "notes"],
    "properties": {
        "schema": {"const": "dpcalc/v1"},
        "result": {"type": "object", "additionalProperties": NUMBER_OR_INF},
        "status": {"enum": ["proven", "as-published", "conjecture", "limit", "lower", "model", None]},
        "guarantee": {"type": "object", "required": ["kind"]},
        "bounds": {"type": "array", "items": {"type": "object", "required": ["name", "status", "witness", "source",
                                                                             "assumptions", "errata"]}},
    },
}


def best_gaussian(fpr, mu):
    """Φ(Φ^{-1}(f) + μ)."""
    return erfc(-(NormalDist().inv_cdf(fpr) + mu) / sqrt(2)) / 2
