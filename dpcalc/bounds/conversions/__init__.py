"""Conversions between guarantees, and composition of (ε, δ)-DP."""

MODULES = ("rdp_optimal", "rdp_improved", "gdp", "zcdp", "rdp_curves", "pure", "group_privacy", "to_replace_one",
           "composition_basic", "composition_optimal", "outcomes", "profile_composition", "selection", "filters")
