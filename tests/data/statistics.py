"""Makes statistics.json, the figures that crates/analysis/src/statistics is checked against.

    pip install numpy scipy statsmodels pymannkendall
    python3 statistics.py > statistics.json

What scipy, statsmodels or pymannkendall have is taken from them. The rest is written out
here from the papers, in another way than in Rust where there is one: sums over all pairs instead of
running ones. The random numbers of resampling are those of boatload, so that figures agree to the
last digits. Versions are in the output.
"""

import sys

# Python has a module of this file's name, which others import.
del sys.path[0]

import itertools
import json
import math

import numpy as np
import pymannkendall
import scipy
import statsmodels
from scipy import stats
from statsmodels.tsa.stattools import acf

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
RESAMPLE = 8


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Draws:
    """Indexes as boatload draws them."""

    def __init__(self, seed):
        self.key = mix((seed + RESAMPLE * GOLDEN) & MASK)
        self.next = 0

    def index(self, bound):
        number = mix(self.key ^ (self.next * GOLDEN & MASK))
        self.next += 1
        return (number * bound) >> 64

    def sample(self, values):
        return [values[self.index(len(values))] for _ in values]


def rounded(values):
    return [float(f"{value:.6g}") for value in values]


rng = np.random.default_rng(20)
SMALL = rounded(rng.lognormal(4, 0.3, 12))
OTHER = rounded(rng.lognormal(4.4, 0.2, 9))
MIDDLE = rounded(rng.gamma(2, 50, 40))
THREE = [101.0, 95.5, 112.25]
FOUR = [52.5, 49.0, 55.75, 51.0]


def ar1(n, rho, draws):
    values = [draws.normal()]
    while len(values) < n:
        values.append(rho * values[-1] + draws.normal())
    return np.array(values)


SERIES = rounded(100 + 5 * ar1(200, 0.6, rng))
RISING = rounded(100 + 5 * ar1(120, 0.5, rng) + 0.1 * np.arange(120))
TIED = [float(v) for v in np.round(rng.normal(10, 2, 60) + np.arange(60) / 30)]
WARMING = rounded(50 * np.exp(-np.arange(160) / 15) + 100 + rng.normal(0, 3, 160))


# --- distributions and figures of a sample -----------------------------------------------------


def describe():
    return [
        {
            "values": values,
            "mean": np.mean(values),
            "deviation": np.std(values, ddof=1),
        }
        for values in (THREE, SMALL, MIDDLE)
    ]


# --- changes of the mean -----------------------------------------------------------------------


def best_split(x):
    """The largest energy distance, each from all pairs (Matteson and James 2014, equation 5)."""
    distance, best = np.abs(np.subtract.outer(x, x)), (0, None)
    for at in range(3, len(x) - 2):
        m, n = at, len(x) - at
        within = lambda part: part.sum() / (len(part) * (len(part) - 1))
        energy = (
            2 * distance[:at, at:].mean() - within(distance[:at, :at]) - within(distance[at:, at:])
        )
        if m * n / (m + n) * energy > best[0]:
            best = (m * n / (m + n) * energy, at)
    return best[1]


def chance(a, b):
    return stats.ttest_ind(a, b).pvalue


def search(x, start, end, chance_max):
    wide = [(start, end)]
    if end - start > 50:
        wide += [(at, at + 50) for at in range(start, end - 50, 25)] + [(end - 50, end)]
    for low, high in wide:
        at = best_split(x[low:high])
        if at is not None and chance(x[low : low + at], x[low + at : high]) <= chance_max:
            at += low
            return search(x, start, at, chance_max) + [at] + search(x, at, end, chance_max)
    return []


def change_points(x, chance_max=0.001):
    x = np.array(x)
    chance_max *= min(1, 50 / len(x))
    points = search(x, 0, len(x), 10 * chance_max)
    while points:
        bounds = [0, *points, len(x)]
        chances = [
            chance(x[a:b], x[b:c]) for a, b, c in zip(bounds, bounds[1:], bounds[2:])
        ]
        worst = int(np.argmax(chances))
        if chances[worst] <= chance_max:
            means = [x[a:b].mean() for a, b in zip(bounds, bounds[1:])]
            return [list(row) for row in zip(points, means, means[1:], chances)]
        points.pop(worst)
    return []


def changes():
    draws = np.random.default_rng(9)
    noise = lambda n: draws.normal(0, 4, n)
    step = lambda *parts: np.concatenate([np.full(n, level) for n, level in parts])
    series = [
        noise(100) + 100,
        noise(100) + step((60, 100), (40, 94)),
        noise(120) + step((40, 100), (40, 110), (40, 103)),
        noise(300) + step((140, 100), (15, 112), (145, 100)),
        noise(30) + step((26, 100), (4, 125)),
        np.array(SERIES),
    ]
    return [{"values": (v := rounded(x)), "points": change_points(v)} for x in series]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def main():
    packages = (np, scipy)
    figures = {
        "made_with": {package.__name__: package.__version__ for package in packages},
        "describe": describe(),
        "changes": changes(),
    }
    parts = [f"{json.dumps(key)}: {json.dumps(plain(part))}" for key, part in figures.items()]
    print("{\n" + ",\n".join(parts) + "\n}")


main()
