"""Python's own: manifests, versions, locks and environments, and uv."""
