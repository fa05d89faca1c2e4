"""Classes against listing the domain."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from blowproof.models import Between, Domain, Integers, Region
from blowproof.models.domain.classes import collapse
from strategies import domains, unions


@given(st.data())
def test_classes_are_what_listing_finds(data: st.DataObject) -> None:
    domain = data.draw(domains())
    areas = [domain.area(data.draw(unions(domain))) for _ in range(data.draw(st.integers(0, 4)))]
    listed = Counter(
        frozenset(number for number, area in enumerate(areas) if point in area)
        for point in domain.points()
    )
    classes = collapse(domain, areas)
    assert {item.inside: item.size for item in classes} == listed
    for item in classes:
        points = [point for box in item.boxes() for point in box.points()]
        assert len(points) == len(set(points)) == item.size
        assert all(point in item for point in points)
        assert item.take(2) == tuple(points[:2])


def test_a_domain_of_a_million_millions_with_twenty_regions() -> None:
    domain = Domain({f"x{axis}": Integers(1, 100) for axis in range(6)})
    assert domain.size == 10**12
    rng = random.Random(7)
    areas = []
    for _ in range(20):
        ends = {
            f"x{axis}": sorted(rng.sample(range(1, 101), 2)) for axis in rng.sample(range(6), 3)
        }
        areas.append(
            domain.area(Region({n: Between(low, high) for n, (low, high) in ends.items()}))
        )
    classes = collapse(domain, areas)
    assert sum(item.size for item in classes) == domain.size
    for number, area in enumerate(areas):
        assert sum(item.size for item in classes if number in item.inside) == area.size
