"""Sightline's indexer package."""
