"""Says what a case of the contract is: a completion whose true values are known, whatever form it travels in."""

import math
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from pinctl.wire.logprobs import NO_EVIDENCE
from pinctl.wire.routed_experts import ExpertsValue, RoutedExperts, forwarded_positions


class RequestValue(TypedDict):
    """What a client asks for, as JSON; experts from a position on, or None.

    Where it asks for several choices, `choices` says how many, and `choice` which of them is to be read.
    """

    prompt_token_ids: list[int]
    routed_experts_start: int | None
    choices: NotRequired[int]
    choice: NotRequired[int]


class ChoiceValue(TypedDict):
    """The true values of one choice, as JSON; see `Case.truth`."""

    token_ids: list[int]
    finish_reason: str
    logprobs: list[float | str | None]
    sampling_mask: list[list[int]] | None
    routed_experts: ExpertsValue | None
    routed_experts_shape: list[int] | None
    prompt_logprobs: list[float]


class TruthValue(ChoiceValue):
    """The true values of a case, as JSON; see `Case.truth`."""

    name: str
    prompt_token_ids: list[int]
    choices: NotRequired[list[ChoiceValue]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One completion, and what is true of it.

    Attributes:
        name: in plans and reports.
        title: what it is for, in a sentence.
        prompt_token_ids: of the prompt.
        token_ids: of the completion.
        finish_reason: why it ended.
        logprobs: of each completion token, in nats, exact in float32 so that every form carries the same number;
            None where the engine has no evidence. No number is 0, which is what a careless reader fills in.
        sampling_mask: the rows of the mask; None if the server keeps none.
        routed_experts: from the position that is asked for on; None if the model has none.
        more: the further choices of the same response, as cases of the same prompt.
    """

    name: str
    title: str
    prompt_token_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    finish_reason: str
    logprobs: tuple[float | None, ...]
    sampling_mask: tuple[tuple[int, ...], ...] | None = None
    routed_experts: RoutedExperts | None = None
    more: "tuple[Case, ...]" = ()

    @property
    def choices(self) -> "tuple[Case, ...]":
        """Every choice of the response, in the order of their indices; this one is the first."""
        return (self, *self.more)

    @property
    def has_evidence(self) -> bool:
        """Whether every token has a number; a client must refuse the logprobs of any other case."""
        return all(logprob is not None and NO_EVIDENCE < logprob < math.inf for logprob in self.logprobs)

    @property
    def end(self) -> int:
        """The number of forwarded positions, where the rows of the experts end."""
        return forwarded_positions(prompt_tokens=len(self.prompt_token_ids), completion_tokens=len(self.token_ids))

    @property
    def prompt_logprobs(self) -> tuple[float, ...]:
        """What a teacher scores the prompt with, in nats; 0 for the first token."""
        return (0.0, *(-(1 + 7 * i % 61) / 8 for i in range(1, len(self.prompt_token_ids))))

    def request(self, choice: int = 0) -> RequestValue:
        """Returns what a client asks to get this case.

        Args:
            choice: the index of the one that it is to read, where there are several.

        Returns:
            A JSON object.
        """
        start = None if self.routed_experts is None else self.routed_experts.start
        request: RequestValue = {"prompt_token_ids": list(self.prompt_token_ids), "routed_experts_start": start}
        if self.more:
            request |= {"choices": len(self.choices), "choice": choice}
        return request

    def truth(self) -> TruthValue:
        """Returns the true values, as they are handed to a server's probe.

        Minus infinity is no JSON number: it stands in `logprobs` as the string "-Infinity". No evidence is null. Lists
        of no rows say nothing about layers and experts a token, which an engine knows: the shape stands beside them.
        Where there are several choices, `choices` holds the values of each, and those beside it are the first one's.

        Returns:
            A JSON object.
        """
        own = self.choice_truth()
        truth: TruthValue = {
            "name": self.name,
            "prompt_token_ids": list(self.prompt_token_ids),
            "token_ids": own["token_ids"],
            "finish_reason": own["finish_reason"],
            "logprobs": own["logprobs"],
            "sampling_mask": own["sampling_mask"],
            "routed_experts": own["routed_experts"],
            "routed_experts_shape": own["routed_experts_shape"],
            "prompt_logprobs": own["prompt_logprobs"],
        }
        if self.more:
            truth["choices"] = [choice.choice_truth() for choice in self.choices]
        return truth

    def choice_truth(self) -> ChoiceValue:
        """Returns the true values of this choice alone.

        Returns:
            A JSON object.
        """
        return {
            "token_ids": list(self.token_ids),
            "finish_reason": self.finish_reason,
            "logprobs": ["-Infinity" if logprob == -math.inf else logprob for logprob in self.logprobs],
            "sampling_mask": None if self.sampling_mask is None else [list(row) for row in self.sampling_mask],
            "routed_experts": None if self.routed_experts is None else self.routed_experts.value(),
            "routed_experts_shape": None if self.routed_experts is None else list(self.routed_experts.ids.shape),
            "prompt_logprobs": list(self.prompt_logprobs),
        }
