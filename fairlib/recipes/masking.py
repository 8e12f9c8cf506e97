"""The masking experiment of paper 3: on generated images, and on COCO's photographs where they were at hand."""

import pandas as pd

from fairlib.recipes.generated_images import Contrast, common_objects
from fairlib.recipes.originals import recipe
from fairlib.recipes.photographs import with_photographs

CONTRASTS = {"faint": 0.8, "clear": 2.0}  # of the objects: hard or easy to recognise beside noise of 0.2


@recipe(files=[], costly=True)
def masking_runs() -> pd.DataFrame:
    """Test counts of five networks per mask, with faint and with clear objects; and of VGG16 on photographs, if any."""
    from fairlib.recipes.training import masking

    settings = {name: masking.Setting(contrast=Contrast(objects=value)) for name, value in CONTRASTS.items()}
    runs = [masking.run(common_objects(), setting=setting).assign(objects=name) for name, setting in settings.items()]
    return with_photographs(pd.concat(runs).assign(inputs="generated images"), "coco")
