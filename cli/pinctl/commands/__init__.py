"""What you can ask: one small file for each command.

A command imports its flow when it runs, so that no question pays for the libraries of another.
"""
