"""The library's errors.

A message reads `[area.verb] what is wrong: name=value, expected ...; what to do`.
"""


class Error(RuntimeError):
    """Root of everything the library raises."""


class InvalidOption(Error, ValueError):
    """A value the caller or the environment gave is outside what is allowed."""


class Unsupported(Error, NotImplementedError):
    """The request is meaningful, but this build, device or version cannot do it."""


class DeviceError(Error):
    """A device refused an operation."""


class InternalError(Error):
    """A fault of the library: please report it."""


class OutOfMemory(Error, MemoryError):
    """Memory did not suffice. Sizes in bytes, 0 where unknown."""

    estimated_bytes: int = 0
    available_bytes: int = 0


class BadFile(Error, OSError):
    """The file `filename` cannot be used. `offset` is a byte position, -1 where none applies."""

    offset: int = -1

    def __str__(self) -> str:
        return str(self.args[0])


for _error in (Error, InvalidOption, Unsupported, DeviceError, InternalError, OutOfMemory, BadFile):
    _error.__module__ = "fasttrain"
