"""The command ``python -m trine.vision``."""
