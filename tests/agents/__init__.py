"""Agents of frameworks whose model is a script."""
