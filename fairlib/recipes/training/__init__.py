"""The models behind the bundled outputs. Only needed to train them again: the notebooks run without this package.

Fine-tuning needs the optional packages of the extra `models` (`make models` installs them and trains everything).
"""
