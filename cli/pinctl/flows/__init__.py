"""How it goes: each flow puts questions to the tools and answers with values of the model."""
