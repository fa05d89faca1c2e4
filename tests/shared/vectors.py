"""Vectors as the kernel writes those that are 0 nearly everywhere."""

__all__ = ["thin"]


def thin(*vector: int) -> tuple[tuple[int, int], ...]:
    """Return what of a vector is not 0, with its place.

    >>> thin(0, 5, 0, -1)
    ((1, 5), (3, -1))
    """
    return tuple((place, value) for place, value in enumerate(vector) if value)
