"""Texts of bounded length."""


def clip(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, without splitting a character."""
    data = str(text).encode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore")


def one_line(text: str, limit: int = 400) -> str:
    return clip(" ".join(str(text).split()), limit)
