"""The errors and warnings a user can meet, each one line: where, what is wrong, what to do."""

LONGEST = 1_000
"""Characters of a message; what it quotes may come from a stranger's file."""


def one_line(text: str) -> str:
    """The same without breaks, and without signs that a terminal would obey."""
    line = " ".join(text.splitlines())
    return "".join(sign if sign.isprintable() else " " if sign.isspace() else "\ufffd" for sign in line)


class UnshuffleError(Exception):
    """Base of every error that is the user's to mend; commands print it and leave with code 2."""

    def __str__(self) -> str:
        """One line; of a message that would be longer, both ends."""
        message = one_line(super().__str__())
        half = LONGEST // 2
        return message if len(message) <= LONGEST else f"{message[: half - 3]} ... {message[-half + 2 :]}"


class ConfigError(UnshuffleError):
    """A configuration, option or model folder says something that cannot be."""


class DataError(UnshuffleError):
    """A text, file or document cannot be read as what it claims to be."""


class MissingExtra(UnshuffleError):
    """A capability was asked for whose packages are not installed."""

    def __init__(self, capability: str, extra: str) -> None:
        super().__init__(f"{capability} needs the '{extra}' extra. In the checkout: pip install '.[{extra}]'.")


class Doubt(UserWarning):
    """A reason not to rely on an answer; command line and service ignore it, because they tell it in their own way."""
