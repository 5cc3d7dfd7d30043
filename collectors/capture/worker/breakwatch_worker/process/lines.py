"""JSON objects on file descriptors, one object a line: the framing of the protocol and of the child's result pipe."""

import json
import os

MAX_LINE_BYTES = 16 << 20


class LineTooLong(ValueError):
    """The peer sent a line that is too long."""


class LineReader:
    """Splits the bytes of a descriptor into complete lines. Owner: one loop; not thread-safe."""

    def __init__(self, descriptor: int, max_bytes: int = MAX_LINE_BYTES):
        self.descriptor = descriptor
        self.ended = False
        self._buffer = bytearray()
        self._max_bytes = max_bytes

    def read(self) -> list:
        """Reads once and returns the lines that are now complete, as bytes. Sets `ended` at end of file."""
        try:
            data = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return []
        searched = len(self._buffer)
        self._buffer += data
        if b"\n" not in data:
            if searched + len(data) > self._max_bytes:
                raise LineTooLong(f"a line is longer than {self._max_bytes} bytes")
            return []
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = rest
        return [bytes(line) for line in lines if line.strip()]


def write_line(descriptor: int, message: dict) -> None:
    """Writes the complete line, with as many write calls as it takes."""
    data = memoryview((json.dumps(message, ensure_ascii=True, allow_nan=False, default=str) + "\n").encode())
    while data:
        data = data[os.write(descriptor, data):]
