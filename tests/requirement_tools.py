"""What pyproject.toml declares, read for the tests of the project's files."""

from packaging.requirements import Requirement


def flat_extras(pyproject):
    """The requirements of each extra; in place of ``pdsynth[files]`` those of ``files``."""
    extras = pyproject["project"]["optional-dependencies"]

    def spread(line):
        own = Requirement(line)
        if own.name != "pdsynth":
            return [line]
        return [other for extra in sorted(own.extras) for other in flat(extra)]

    def flat(extra):
        return [other for line in extras[extra] for other in spread(line)]

    return {extra: flat(extra) for extra in extras}
