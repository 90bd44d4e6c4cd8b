"""Conversions between guarantees, and composition of (ε, δ)-DP."""

from dpcalc.bounds.conversions import (
    composition_advanced,
    composition_basic,
    composition_optimal,
    dp_tv,
    gdp_exact,
    gdp_rdp,
    outcomes,
    pure_gdp,
    pure_rdp,
    rdp_composition,
    rdp_curve,
    rdp_improved,
    rdp_mironov,
    rdp_optimal,
    zcdp_rdp,
)

BOUNDS = (
    rdp_optimal.BOUND,
    rdp_improved.BOUND,
    rdp_mironov.BOUND,
    gdp_exact.BOUND,
    gdp_rdp.BOUND,
    zcdp_rdp.BOUND,
    rdp_curve.BOUND,
    rdp_composition.BOUND,
    pure_rdp.BOUND,
    pure_gdp.BOUND,
    dp_tv.BOUND,
    composition_basic.BOUND,
    composition_advanced.BOUND,
    composition_optimal.BOUND,
    outcomes.PROFILE,
    outcomes.RDP,
)
