"""Attempts to break every proven bound from below: exact losses of concrete mechanisms and runs, solved apart from the
package.

A family draws an instance and yields soundness (bound, question, true, reported): `true` is at most the instance's loss
up to the accuracy of its own solver, `reported` what the bound promises. It is sound where true <= reported. """

from soundness import (
    best_of_runs,
    burn_in,
    conversions,
    feedback,
    hiding,
    mechanisms,
    noisy_values,
    runs,
    sampling,
    selections,
)

FAMILIES = (*mechanisms.FAMILIES, *feedback.FAMILIES, *conversions.FAMILIES, *sampling.FAMILIES, *runs.FAMILIES,
            *burn_in.FAMILIES, *hiding.FAMILIES, *selections.FAMILIES, *best_of_runs.FAMILIES, *noisy_values.FAMILIES)
RELATIVE, ABSOLUTE = 1e-8, 1e-11  # of the solvers in doubles


def broken(true, reported):
    return not true <= reported * (1 + RELATIVE) + ABSOLUTE
