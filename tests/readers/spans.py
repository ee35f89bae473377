"""Core-seconds of spans (core, from, to): each for itself, and of at least one of them."""
from collections import defaultdict


def held(spans):
    return sum(to - begin for _, begin, to in spans)


def busy(spans):
    by_core = defaultdict(list)
    for core, begin, to in spans:
        by_core[core].append((begin, to))
    total = 0
    for intervals in by_core.values():
        intervals.sort()
        open_from, open_to = intervals[0]
        for begin, to in intervals[1:]:
            if begin > open_to:
                total += open_to - open_from
                open_from, open_to = begin, to
            open_to = max(open_to, to)
        total += open_to - open_from
    return total
