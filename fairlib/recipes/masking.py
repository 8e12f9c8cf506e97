"""The masking experiment of paper 3 on generated images: no photographs are at hand."""

import pandas as pd

from fairlib.recipes.generated_images import Contrast, common_objects
from fairlib.recipes.originals import recipe

CONTRASTS = {"faint": 0.8, "clear": 2.0}  # of the objects: hard or easy to recognise beside noise of 0.2


@recipe(files=[], costly=True)
def masking_runs() -> pd.DataFrame:
    """Test counts of five networks per mask (see `training.masking.run`), with faint and with clear objects."""
    from fairlib.recipes.training import masking

    settings = {name: masking.Setting(contrast=Contrast(objects=value)) for name, value in CONTRASTS.items()}
    runs = [masking.run(common_objects(), setting=setting).assign(objects=name) for name, setting in settings.items()]
    return pd.concat(runs, ignore_index=True)
