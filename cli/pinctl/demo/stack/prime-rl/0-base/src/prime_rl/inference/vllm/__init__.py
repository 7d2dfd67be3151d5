"""What this repository adds to vLLM's endpoints."""
