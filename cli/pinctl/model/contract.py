"""Names what a contract is made of: the fields that cross, and the cases with known true values."""

FIELDS = ("logprobs", "sampling_mask", "routed_experts")
"""The fields that cross from the server to its clients."""

CASES = (
    "greedy",
    "top-p",
    "sampling-mask",
    "routed-experts",
    "empty",
    "no-evidence",
    "one-token",
    "minus-infinity",
    "few-experts",
    "prefill-decode",
    "long",
    "edge-ids",
    "several-choices",
)
"""The cases that pinctl brings; `pinctl.wire.cases` holds their values."""

FORMS = ("vllm", "packed", "vllm-0.20", "uint8", "kept-tokens", "skyrl")
"""The reference wire forms that pinctl brings; `pinctl.wire.forms` reads and writes them."""
