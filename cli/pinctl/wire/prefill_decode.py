"""What a prefill and a decode instance answer for one completion, and how a router joins the two."""

import numpy as np

from pinctl.wire.refusal import WireRefusal
from pinctl.wire.routed_experts import FIELD, RoutedExperts


def split_at_prompt(experts: RoutedExperts, *, prompt_tokens: int) -> tuple[RoutedExperts, RoutedExperts]:
    """Returns what a prefill and a decode instance would each answer.

    The prefill instance forwards the prompt. The decode instance starts with its last token once more, at p - 1: the
    two overlap by one row.

    Args:
        experts: of a whole completion, from p - 1 or before.
        prompt_tokens: p.

    Returns:
        The prefill instance's rows, up to the prompt's end; the decode instance's rows, from p - 1 on.
    """
    first = prompt_tokens - 1 - experts.start
    return (
        RoutedExperts(ids=experts.ids[: first + 1], start=experts.start),
        RoutedExperts(ids=experts.ids[first:], start=prompt_tokens - 1),
    )


def merge(prefill: RoutedExperts, decode: RoutedExperts, *, field: str = FIELD) -> RoutedExperts:
    """Joins the answers of a prefill and a decode instance by position, as the router does since v0.2.3.

    Decode rows are cut by `(prefill.start + prefill.rows) - decode.start`. Where both have a row, prefill's is kept.

    Args:
        prefill: the rows of the prefill instance.
        decode: the rows of the decode instance.
        field: the place, for the refusal.

    Returns:
        The rows from prefill's start to decode's end.

    Raises:
        WireRefusal: positions are missing between the two, decode ends before prefill does, or layers or top_k
            differ.
    """
    if prefill.ids.shape[1:] != decode.ids.shape[1:]:
        raise WireRefusal(field, f"decode has {decode.ids.shape[1:]} layers and top_k, prefill {prefill.ids.shape[1:]}")
    cut = prefill.end - decode.start
    if cut < 0:
        raise WireRefusal(field, f"decode starts at {decode.start}, {-cut} rows after prefill ends")
    if cut > len(decode.ids):
        raise WireRefusal(field, f"decode has {len(decode.ids)} rows, expected at least {cut}")
    return RoutedExperts(ids=np.concatenate([prefill.ids, decode.ids[cut:]]), start=prefill.start)
