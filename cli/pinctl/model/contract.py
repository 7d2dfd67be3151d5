"""Names what a contract is made of: the fields that cross, and the cases with known true values."""

COMPLETION_FIELDS = ("logprobs", "sampling_mask", "routed_experts")
"""The fields of a completion, which a client reads where its plan does not say which."""

FIELDS = (*COMPLETION_FIELDS, "prompt_logprobs")
"""The fields that cross from the server to its clients; the last is what a teacher scores the prompt with."""

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
