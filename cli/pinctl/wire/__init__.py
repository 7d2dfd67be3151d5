"""The wire forms: reference encoders, strict decoders, and the cases whose true values are known."""
