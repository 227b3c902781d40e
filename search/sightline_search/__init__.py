"""Search: from a question to ranked places in the code.

**Invariant**: reads snapshots and files below their root; writes nothing and starts no process.
"""
