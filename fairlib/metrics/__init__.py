"""Paper 2: generalized fairness metrics (Czarnowska, Vyas and Shah 2021)."""
