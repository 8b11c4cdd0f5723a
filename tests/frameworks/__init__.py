"""Real frameworks: agents whose model is a script, and short names for messages."""
