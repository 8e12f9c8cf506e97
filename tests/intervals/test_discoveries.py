"""What is found among many p-values does not hang on the seed, and is what the true p-values would find."""

import numpy as np
import pytest
from scipy import stats

import fairlib


def test_discoveries_hardly_change_with_the_seed():
    """With 200 draws and 240 questions a seed decided what was found; what is certain now agrees with the true p."""
    truth = np.concatenate([np.full(20, 1e-4), np.linspace(0.02, 1, 220)])
    should = stats.false_discovery_control(truth) <= 0.05
    for seed in range(10):
        p = (1 + np.random.default_rng(seed).binomial(9999, truth)) / 10_000
        found = fairlib.discoveries(p, draws=9999)
        assert not (should & (found == "no")).any() and not (~should & (found == "yes")).any()
        assert (found == "undecided").mean() < 0.05


def test_too_few_draws_for_so_many_questions_are_refused():
    with pytest.raises(ValueError, match="draws must be at least 4,799 for 240 questions at once, found 200"):
        fairlib.discoveries(np.full(240, 1 / 201), draws=200)
    assert (fairlib.discoveries(np.full(240, 1 / 4800), draws=4799) != "no").all()
    assert fairlib.discoveries([np.nan, 0.001], draws=999).tolist() == ["undecided", "yes"]
