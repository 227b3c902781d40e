"""Setting up the agents' clients: which files they read, and edits that keep everything else in them."""
