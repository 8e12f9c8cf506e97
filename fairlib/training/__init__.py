"""Training: the models behind the bundled outputs. Nothing else in fairlib imports this package."""
