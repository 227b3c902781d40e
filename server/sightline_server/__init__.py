"""Sightline's server package."""
