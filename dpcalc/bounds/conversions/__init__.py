"""Conversions between guarantees, and composition of (ε, δ)-DP."""

MODULES = (
    "rdp_optimal", "rdp_improved", "rdp_mironov", "gdp_exact", "gdp_rdp", "zcdp_rdp", "rdp_curve",
    "rdp_composition", "rdp_mixture", "pure_rdp", "pure_gdp", "gdp_composition", "pure_zcdp", "bounded_range_zcdp",
    "gdp_zcdp", "zcdp_composition", "zcdp_sum", "dp_tv", "group_privacy", "to_replace_one", "composition_basic",
    "composition_advanced", "composition_optimal", "outcomes", "profile_composition",
)
