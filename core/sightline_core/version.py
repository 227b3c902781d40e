"""The version of Sightline, in one place; the build reads it from here."""

__version__ = "0.1.0"
PROTOCOL_VERSION = "1.0"
