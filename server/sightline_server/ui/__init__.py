"""The page for people at `/ui`: its files, and how they are served."""
