"""Sightline's search package."""
