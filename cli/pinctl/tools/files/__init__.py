"""The files of pinctl itself: what they may say, and reading and writing them."""
