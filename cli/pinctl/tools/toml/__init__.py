"""TOML: read with the place of every value, edited where it stands."""
