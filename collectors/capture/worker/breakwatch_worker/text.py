"""Texts of bounded length."""


def clip(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, without splitting a character."""
    data = str(text).encode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore")


def clip_start(text: str, limit: int) -> str:
    """The end of the text, at most `limit` bytes of UTF-8."""
    data = str(text).encode("utf-8", "replace")
    return data[max(0, len(data) - limit):].decode("utf-8", "ignore")


def one_line(text: str, limit: int = 400) -> str:
    return clip(" ".join(str(text).split()), limit)


def one_line_end(text: str, limit: int) -> str:
    """One line, of which the end is kept; "... " in front says so."""
    line = " ".join(str(text).split())
    return line if len(line.encode("utf-8", "replace")) <= limit else "... " + clip_start(line, limit - 4).lstrip()
