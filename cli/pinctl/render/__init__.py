"""How answers look: one module for each kind of answer, with its text beside its JSON; nothing else prints."""
