"""Sightline's lsp package."""
