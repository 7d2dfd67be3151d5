"""The settings of a run."""

from dataclasses import asdict, dataclass
from typing import Any

import verifiers
from renderers.types import Renderer
from renderers.utf8 import Utf8Renderer

RENDERERS: dict[str, type[Renderer]] = {"utf8": Utf8Renderer}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """One run's settings.

    Attributes:
        model: the name that the server serves the model under.
        renderer: which chat format the model was trained on.
        max_tokens: the longest completion.
        sampling_mask: whether the server returns the kept-set of each token.
        routed_experts: whether the server returns the experts of each position.
    """

    model: str = "table"
    renderer: str = "utf8"
    max_tokens: int = 64
    sampling_mask: bool = True
    routed_experts: bool = True

    def make_renderer(self) -> Renderer:
        """Returns the renderer that the settings name.

        Raises:
            ValueError: no renderer has that name.
        """
        if self.renderer not in RENDERERS:
            raise ValueError(f"no renderer is called {self.renderer!r}; there are {', '.join(sorted(RENDERERS))}")
        return RENDERERS[self.renderer]()

    def describe(self) -> dict[str, Any]:
        """Returns what a run's record keeps: the settings, and the version that wrote the graphs."""
        return {**asdict(self), "verifiers": verifiers.__version__}
