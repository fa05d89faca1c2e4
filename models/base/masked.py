"""Passwords stay out of whatever is shown: errors, logs, policies, certificates."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import unquote, urlsplit

__all__ = ["SECRET_KEYS", "masked", "without_secret"]

SECRET_KEYS = ("password", "passwd", "pwd", "secret", "token", "credential", "apikey")
"""Words that the name of a setting has, in an address, if its value is nobody's business."""

_USER = re.compile(r"(?P<before>[A-Za-z][A-Za-z0-9+.-]*:/+[^\s:/@?#]*):[^\s/]*@")
_ODD_USER = re.compile(r"(?P<before>[A-Za-z][A-Za-z0-9+.-]*:/+[^\s:/@?#]*):[^\s'\"]*@")
_SETTING = re.compile(
    rf"(?P<before>[?&;][^=&\s]*(?:{'|'.join(SECRET_KEYS)})[^=&\s]*=)[^&\s'\"]*", re.IGNORECASE
)


def masked(text: str) -> str:
    """Return a text with *** for the password of every address in it.

    A password that holds an "/" or "@" of its own is masked to its last "@": too much is safe.

    >>> masked("no server at postgres://ann:s3cret@db/people?sslpassword=x&sslmode=on")
    'no server at postgres://ann:***@db/people?sslpassword=***&sslmode=on'
    >>> masked("postgres:/ann:s3cret@db/people")
    'postgres:/ann:***@db/people'
    >>> masked("postgres://ann:a/b@c@db/people"), masked("at 10:30, postgres://db/people")
    ('postgres://ann:***@db/people', 'at 10:30, postgres://db/people')
    """
    if ":/" not in text:  # with one /, where it was taken for a path
        return text
    for pattern in (_USER, _ODD_USER):
        text = pattern.sub(r"\g<before>:***@", text)
    return _SETTING.sub(r"\g<before>***", text)


def without_secret(address: str, text: str) -> str:
    """Return a text without the password of an address, wherever and however it stands there.

    >>> without_secret("tcp://ann:s3cret@head:1", "invalid address 'ann:s3cret@head:1'")
    "invalid address 'ann:***@head:1'"
    """
    with suppress(ValueError):
        secret = urlsplit(address).password
        for spelled in {secret, unquote(secret)} if secret else ():
            text = text.replace(spelled, "***")
    return masked(text)
