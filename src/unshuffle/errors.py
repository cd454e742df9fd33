"""The errors a user can meet, each one line: where, what is wrong, what to do."""


class UnshuffleError(Exception):
    """Base of every error that is the user's to mend; commands print it and leave with code 2."""


class ConfigError(UnshuffleError):
    """A configuration, option or model folder says something that cannot be."""


class DataError(UnshuffleError):
    """A text, file or document cannot be read as what it claims to be."""


class MissingExtra(UnshuffleError):
    """A capability was asked for whose packages are not installed."""

    def __init__(self, capability: str, extra: str) -> None:
        super().__init__(f"{capability} needs the '{extra}' extra. In the checkout: pip install '.[{extra}]'.")
