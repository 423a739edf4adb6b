"""Parts of the ``DataLoader``."""
