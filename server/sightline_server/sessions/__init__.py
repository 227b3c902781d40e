"""Client sessions: what belongs to one client and to nobody else."""
