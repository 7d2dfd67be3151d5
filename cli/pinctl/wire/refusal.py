"""How a wire form says no: a decoder to what it read, an encoder to what it cannot hold."""


class _PlacedError(Exception):
    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


class WireRefusal(_PlacedError):  # noqa: N818 - a refusal is the answer "no" to a payload, not a fault of pinctl
    """What was read breaks a rule of its wire form; the only exception that a decoder raises.

    Args:
        field: the place, as a dotted path such as `sampling_mask.counts`.
        reason: the rule that is broken, with what was found.
    """


class UnencodableError(_PlacedError):
    """A true value does not fit a wire form: a server that speaks it fails here, before anything is sent.

    Args:
        field: the field that does not fit.
        reason: what the form cannot hold.
    """
