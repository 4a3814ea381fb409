"""Methods that the papers compare with, behind the same contract as every synthesizer."""

__all__: list[str] = []
