"""The models behind the bundled outputs, to train them again.

The notebooks run without this package. Fine-tuning needs the optional packages of the
extra `models` (`make models` installs them and trains everything).
"""
