"""The masking simulation's runs: trained by this project on images that it generates."""

from __future__ import annotations

import pandas as pd

from fairlib.data import load, recipe
from fairlib.originals.wang2021 import EVERY

CONTRASTS = {"faint": 0.8, "clear": 2.0}  # of the objects: hard or easy to recognise beside noise of 0.2
COMMON = 0.03  # objects in at least this share of the images: enough examples to learn a glyph


def common_objects() -> pd.DataFrame:
    """Return images by object and gender (dev and test together) for the objects that are common enough."""
    counts = load("coco_objects", source="bundled")
    counts = counts[counts["split"] != "train"].groupby("object", sort=False)[["man", "woman"]].sum().reset_index()
    images = counts[["man", "woman"]].sum(axis=1)
    every = images[counts["object"] == EVERY].item()
    return counts[images >= COMMON * every].reset_index(drop=True)


@recipe("masking_runs", files=[], costly=True)
def masking_runs() -> pd.DataFrame:
    """Test counts of five networks per mask (see `fairlib.training.masking.run`), with faint and with clear objects."""
    from fairlib.generated_images import Contrast
    from fairlib.training import masking

    settings = {name: masking.Setting(contrast=Contrast(objects=value)) for name, value in CONTRASTS.items()}
    runs = [masking.run(common_objects(), setting=setting).assign(objects=name) for name, setting in settings.items()]
    return pd.concat(runs, ignore_index=True)
