"""The shared vocabulary of Sightline: types, errors, limits, configuration, paths, text and languages.

**Invariant**: standard library only, and no I/O but reading its own tables and the user's configuration.
"""
