"""Helpers for all layers: errors, messages, wording, files, worker processes, versions."""
