# The list of the model tests' models, and valid inputs for them. full_models.py and small_models.py fill it.
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
BERT_INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


@dataclass(frozen=True)
class Model:
    name: str
    source: str  # package, licence, weights
    make: Callable[[Path], None]  # writes the file
    calls: Callable[[np.random.Generator], list]  # the inputs of successive calls, each {name: array}
    needs: tuple = ()  # packages to import
    carry: dict = field(default_factory=dict)  # {input: output of the call before}, for models with state
    large: bool = False  # run optimized only
    small: bool = False  # committed under small/
    tolerance: float | None = None  # relative; None takes the table's by dtype

    def missing(self):
        return [package for package in self.needs if importlib.util.find_spec(package) is None]


CATALOGUE: list[Model] = []


def add(name, source, make, calls, needs=(), **more):
    CATALOGUE.append(Model(name, source, make, calls, tuple(needs), **more))


def images(name, *shapes):
    return lambda rng: [{name: rng.random(shape, np.float32)} for shape in shapes]


def normal(name, *shapes, scale=1.0):
    return lambda rng: [{name: (scale * rng.standard_normal(shape)).astype(np.float32)} for shape in shapes]


def photo(name, *shapes):
    """The demo photo, resized to each shape [N, 3, H, W], in 0..1."""

    def calls(rng):
        from PIL import Image

        feeds = []
        for n, _, height, width in shapes:
            image = Image.open(FOLDER.parent.parent / "assets/photo.jpg").convert("RGB").resize((width, height))
            pixels = np.asarray(image, np.float32) / 255
            feeds.append({name: np.repeat(np.ascontiguousarray(pixels.transpose(2, 0, 1))[None], n, 0)})
        return feeds

    return calls


def text(name, *shapes):
    """White pages with a line of text across, in -1..1: [N, 3, H, W], black on white, another line for each image."""

    def calls(rng):
        from PIL import Image, ImageDraw, ImageFont

        feeds = []
        for n, _, height, width in shapes:
            pages = []
            for line in range(n):
                page = Image.new("RGB", (width, height), "white")
                font = ImageFont.load_default(size=min(32, height * 2 // 3))
                ImageDraw.Draw(page).text((6, height // 8), f"hipforge {2024 + line} reads: 3 apples", "black", font)
                pages.append(np.asarray(page, np.float32).transpose(2, 0, 1) / 127.5 - 1)
            feeds.append({name: np.ascontiguousarray(np.stack(pages))})
        return feeds

    return calls


def sentences(vocabulary, *shapes, inputs=BERT_INPUTS):
    """Token ids [N, S]; all but the first sentence are padded, so that the mask matters."""

    def calls(rng):
        feeds = []
        for n, s in shapes:
            mask = np.ones((n, s), np.int64)
            for row in range(1, n):
                mask[row, max(1, s - 3 * row) :] = 0
            feeds.append(
                {
                    "input_ids": rng.integers(1, vocabulary, (n, s)) * mask,
                    "attention_mask": mask,
                    "token_type_ids": np.repeat(np.arange(s)[None] >= s // 2, n, 0).astype(np.int64),
                }
            )
        return [{name: feed[name] for name in inputs} for feed in feeds]

    return calls


def generation(vocabulary, layers, heads, width, batch=1, prompt=6, steps=3):
    """A prompt with an empty cache, then single tokens; the runner carries present_* to past_*."""

    def calls(rng):
        feeds = []
        for step in range(steps):
            count, total = (prompt, prompt) if step == 0 else (1, prompt + step)
            feed = {
                "input_ids": rng.integers(1, vocabulary, (batch, count)),
                "attention_mask": np.ones((batch, total), np.int64),
            }
            for layer in range(layers):
                for part in ("key", "value"):
                    feed[f"past_{layer}_{part}"] = np.zeros((batch, heads, 0, width), np.float32)
            feeds.append(feed)
        return feeds

    return calls


def cache_names(layers):
    return {f"past_{layer}_{part}": f"present_{layer}_{part}" for layer in range(layers) for part in ("key", "value")}
