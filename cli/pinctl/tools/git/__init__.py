"""What pinctl asks of git, a small function a question."""
