"""The training loop: AdamW with linear decay, mixed precision on a GPU, and a state that a later run continues from.

Every step has its own random numbers, so a continued training gives the same model as an uninterrupted one on the same
machine. The loop of sentence-transformers is not used: it needs two more packages, and it does not promise that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from safetensors import SafetensorError, safe_open

from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError
from intentmatch.runtime import steps

WHAT, EXTRA = "Adapting a model", "torch"

_STEPS_BETWEEN_SAVES = 50
_CLIP = 1.0
# Weight of a new loss in the running mean that is reported.
_NEW_LOSS = 0.1

Loss = Callable[[int], Any]
"""The loss of a step, as a tensor to differentiate."""


class Training:
    """The training of one model, kept in a file.

    `model` is a torch module on its device. `identity` names everything that determines the training; the state of
    another identity is not continued.
    """

    def __init__(
        self, model: Any, loss: Loss, *, total: int, rate: float, seed: int, file: Path, identity: Mapping[str, Any]
    ) -> None:
        self._torch = plugins.require("torch", what=WHAT, extra=EXTRA)
        self._model, self._loss, self._total, self._seed, self._file = model, loss, total, seed, file
        self._metadata = {"identity": json.dumps(identity, sort_keys=True)}
        # Frozen weights are those of the base, and need no place in the state.
        self._weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._device = next(iter(self._weights.values())).device
        self._optimizer = self._torch.optim.AdamW(self._weights.values(), lr=rate)
        self._rate = rate
        self.step, self.loss = 0, 0.0
        self._restore()

    def run(self, name: str, checked: Callable[[int], str] | None = None) -> None:
        """Train to the last step, reporting the progress as the step `name` with the mean loss.

        `checked` returns something more to report about the model, after the number of steps that it is given.
        Raises `IntentMatchError` if the loss is not a finite number.
        """
        first, began, noted = self.step, perf_counter(), ""
        while self.step < self._total:
            left = (perf_counter() - began) / max(1, self.step - first) * (self._total - self.step)
            steps.report(
                f"{name} (loss {self.loss:.2f}{noted})" if self.step else name,
                self.step,
                self._total,
                left if self.step > first else None,
            )
            self._advance()
            if checked is not None:
                noted = checked(self.step) or noted
            if self.step % _STEPS_BETWEEN_SAVES == 0 or self.step == self._total:
                self._save()
        self._model.eval()

    def _advance(self) -> None:
        """Run one step."""
        torch = self._torch
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * (1 - self.step / self._total)
        self._model.train()
        with self._seeded(), self._mixed_precision():
            loss = self._loss(self.step)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._weights.values(), _CLIP)
        self._optimizer.step()
        self._optimizer.zero_grad()
        value = float(loss.detach())
        if not math.isfinite(value):
            raise IntentMatchError(f"training failed at step {self.step}: the loss is {value}")
        self.loss = value if not self.step else (1 - _NEW_LOSS) * self.loss + _NEW_LOSS * value
        self.step += 1

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Seed the dropout of this step, and leave the random numbers of the caller alone."""
        devices = [self._device] if self._device.type == "cuda" else []
        with self._torch.random.fork_rng(devices=devices):
            self._torch.manual_seed(self._seed * 1_000_003 + self.step)
            yield

    @contextmanager
    def _mixed_precision(self) -> Iterator[None]:
        """Compute in bfloat16 on a GPU that has it; its range is that of float32, so that losses need no scaling."""
        cuda = self._device.type == "cuda"
        enabled = cuda and self._torch.cuda.is_bf16_supported(including_emulation=False)
        with self._torch.autocast(self._device.type, dtype=self._torch.bfloat16, enabled=enabled):
            yield

    def _save(self) -> None:
        """Write weights and optimizer to the file atomically."""
        from safetensors.torch import save_file

        tensors = {f"model/{name}": weight for name, weight in self._weights.items()}
        for name, weight in self._weights.items():
            tensors |= {f"{key}/{name}": value for key, value in self._optimizer.state[weight].items()}
        aside = self._file.with_suffix(".unfinished")
        metadata = self._metadata | {"step": str(self.step), "loss": repr(self.loss)}
        save_file({key: value.detach().cpu().contiguous() for key, value in tensors.items()}, aside, metadata)
        # Atomically: a run that is killed while it saves continues from the state before.
        aside.replace(self._file)

    def _restore(self) -> None:
        """Continue from the file, if it holds the state of this training."""
        if not self._file.is_file():
            return
        try:
            with safe_open(self._file, framework="pt") as saved, self._torch.no_grad():
                metadata = saved.metadata() or {}
                if metadata.get("identity") != self._metadata["identity"]:
                    return
                names = list(saved.keys())
                for name, weight in self._weights.items():
                    weight.copy_(saved.get_tensor(f"model/{name}"))
                    state = {key[: -len(name) - 1] for key in names if key.endswith(f"/{name}")} - {"model"}
                    # The number of updates stays on the CPU, as AdamW keeps it.
                    self._optimizer.state[weight] = {
                        key: saved.get_tensor(f"{key}/{name}").to("cpu" if key == "step" else weight.device)
                        for key in sorted(state)
                    }
                self.step, self.loss = int(metadata["step"]), float(metadata["loss"])
        # A damaged state costs the steps so far, and not the training.
        except SafetensorError:
            return
