#!/usr/bin/env python3
"""Writes the vectors of what boatload adds to the reference, or compares them with what scipy computes now.

    own_vectors.py             writes own/*.json
    own_vectors.py --check     exits with 1 if a figure differs by more than 1e-9 of itself

distributions.json   chances and quantiles of Student's t far out, digamma, trigamma and its slope
rates.json           log times of repeats of rates: contrasts, and intervals at 95%
checks.json          one-sided p of "the ratio is the factor or less" (above) and "or more" (below); Holm over rows
between.json         B against A, rows measured next to background load included (is_loaded)
history.json         one run against the mean of the stored runs; their checks against a factor
"""
from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

import effects
from effects import Contrast
from vectors import of_contrasts, plain, rounded, same, text

HERE = Path(__file__).parent / "own"
FACTOR = 1.05                           # a check accepts 5% more time
DEVIATION = {False: 0.055, True: 0.2}   # of the log time between equal runs, by is_loaded


def distributions() -> dict:
    dfs = [1.0, 1.3, 2.0, 3.3, 7.1, 10.0, 43.0, 150.0, 1000.0]
    ts = [1e-3, 0.3, 1.0, 2.0, 5.0, 20.0, 60.0, 1e5]
    chances = [[t, df, 2 * float(stats.t.sf(t, df))] for t, df in product(ts, dfs)]
    alphas = [0.99, 0.5, 0.05, 0.01, 1e-4, 1e-7, 1e-12]
    quantiles = [[alpha, df, float(stats.t.isf(alpha / 2, df))] for alpha, df in product(alphas, dfs)]
    xs = [1e-3, 0.1, 0.5, 0.77, 1.0, 1.5, 2.0, 3.3, 5.0, 11.9, 12.0, 20.5, 500.0, 1e5]
    gamma = [[x, float(digamma(x)), float(polygamma(1, x)), float(polygamma(2, x))] for x in xs]
    return {"about": "[t, df, chance of |t| or more]; [alpha, df, |t|]; [x, digamma, trigamma, its slope]",
            "two_sided": [x for x in chances if x[2] > 1e-290], "quantile": quantiles, "polygamma": gamma}


def rates(rng: np.random.Generator) -> dict:
    """Rates of one variant: 3 phases at 4, 2 and 1 levels, with 5 repeats, but for two."""
    phase_of = ["write"] * 4 + ["read"] * 2 + ["delete"]
    sd = {"write": 0.2, "read": 0.02, "delete": 0.05}
    values = [rounded(-6 + sd[phase] * rng.normal(size=2 if i == 1 else 3 if i == 4 else 5))
              for i, phase in enumerate(phase_of)]
    contrasts = effects.moderated(values, phase_of, {phase: phase_of.count(phase) for phase in sd})
    return {"about": "log times of repeats; all rates are independent; intervals at 95%", "phase": phase_of,
            "values": values, **of_contrasts(contrasts), "interval": [list(c.interval(0.05)) for c in contrasts]}


def one_sided(contrasts: Sequence[Contrast], factor: float) -> dict:
    """A distance below the smallest half width has p = 1."""
    far = [c.estimate - math.log(factor) for c in contrasts]
    above, below = [[float(stats.t.sf(sign * x / c.error, c.df)) if sign * x >= 0.01 else 1.0
                     for x, c in zip(far, contrasts)] for sign in (1, -1)]
    claimed = zip(effects.holm(above), effects.holm(below))
    decision = ["regression" if is_above else "ok" if is_below else "unsure" for is_above, is_below in claimed]
    return {"factor": factor, "p_above": above, "p_below": below, "decision": decision}


def checks(rng: np.random.Generator) -> dict:
    families = []
    for m, factor in ((1, 1.05), (4, 1.05), (12, 1.2), (5, 1.0), (30, 1.5)):
        estimates, errors = math.log(factor) + 0.2 * rng.normal(size=m), np.exp(rng.normal(-3.5, 1.0, size=m))
        figures = [rounded(x) for x in (estimates, errors, rng.uniform(1, 40, size=m))]
        contrasts = [Contrast(*x) for x in zip(*figures)]
        families.append(of_contrasts(contrasts) | one_sided(contrasts, factor))
    return {"about": "families of rows; each hypothesis is tested one-sided at 5%, by Holm", "families": families}


def run_variances(stored: Sequence[Sequence[float]], loaded: Sequence[bool]) -> list[tuple[float, float]]:
    """Of each row the moderated variance between runs and its degrees of freedom, written out from README.md."""
    d = [len(x) - 1 for x in stored]
    s2 = [max(float(np.var(x, ddof=1)), 1e-8) if len(x) > 1 else None for x in stored]
    e = [math.log(s * k / 2) - float(digamma(k / 2)) if s else None for s, k in zip(s2, d)]
    found = []
    for i, is_loaded in enumerate(loaded):
        library = 2 * math.log(DEVIATION[is_loaded])
        others = [x for j, x in enumerate(e) if j != i and x is not None]
        if e[i] is None:
            found.append((math.exp(library), 4.0))
            continue
        v = (0.6 + float(polygamma(1, d[i] / 2))) / len(others) if others else math.inf
        centre = library + (np.mean(others) - library) / (1 + v) if others else library
        variance = 0.6 + (v / (1 + v) if others else 1.0)
        half = brentq(lambda y: float(polygamma(1, y)) - variance, 1e-3, 1e3, xtol=1e-15, rtol=1e-14)
        s0 = math.exp(centre + float(digamma(half)) - math.log(half))
        found.append(((2 * half * s0 + d[i] * s2[i]) / (2 * half + d[i]), 2 * half + d[i]))
    return found


def moderated_repeats(sums: Sequence[float], d: Sequence[int]) -> np.ndarray:
    return effects.moderate([x / k for x, k in zip(sums, d)], d, ["all"] * len(d), {"all": len(d)}).s2


def between(a: list, b: list, stored: list, loaded: list[bool]) -> dict:
    d = [len(x) + len(y) - 2 for x, y in zip(a, b)]
    repeats = moderated_repeats([effects.squares(x) + effects.squares(y) for x, y in zip(a, b)], d)
    contrasts = [Contrast(float(np.mean(y) - np.mean(x)), math.sqrt(max(2 * s2, w * (1 / len(x) + 1 / len(y)))), df)
                 for x, y, w, (s2, df) in zip(a, b, repeats, run_variances(stored, loaded))]
    figures = of_contrasts(contrasts)
    if not any(loaded) and sum(len(x) > 1 for x in stored) != 1:
        assert same(figures, of_contrasts(effects.between_runs(a, b, stored))), "the reference differs"
    return {"a": a, "b": b, "stored": stored, "is_loaded": loaded, **figures}


def history(values: list, stored: list, loaded: list[bool]) -> dict:
    repeats = moderated_repeats([effects.squares(x) for x in values], [len(x) - 1 for x in values])
    contrasts = [Contrast(float(np.mean(x) - np.mean(h)), math.sqrt(max(s2 * (1 + 1 / len(h)), w / len(x))), df)
                 for x, h, w, (s2, df) in zip(values, stored, repeats, run_variances(stored, loaded))]
    given = {"values": values, "history": stored, "is_loaded": loaded}
    return given | of_contrasts(contrasts) | one_sided(contrasts, FACTOR)


def vectors() -> Iterator[tuple[str, dict]]:
    rng = np.random.default_rng(49)
    draw = lambda sd, sizes, middles=[-6] * 6: [rounded(x + sd * rng.normal(size=n)) for n, x in zip(sizes, middles)]
    yield "distributions", distributions()
    yield "rates", rates(rng)
    yield "checks", checks(rng)
    quiet, some = [False] * 6, [False, True, False, False, True, False]
    numbers = [[0] * 6, [1] * 6, [2, 3, 5, 5, 6, 2], [9, 0, 1, 4, 0, 2], [6, 0, 0, 0, 0, 0]]       # of stored runs
    cases = [between(draw(0.05, [3, 3, 2, 5, 3, 4]), draw(0.05, [3, 2, 2, 5, 4, 3], [-5.8] * 6), draw(0.04, x), loaded)
             for x, loaded in product(numbers, (quiet, some))]
    yield "between", {"about": "B against A; with is_loaded the deviation is 0.2 in place of 0.055", "cases": cases}
    numbers = [[1] * 6, [2, 3, 5, 5, 9, 1], [9, 1, 1, 1, 1, 1], [20] * 6]
    middles = [-5.4, -6.6, -6, -5.8, -7, -5]
    cases = [history(draw(sd, [3, 5, 2, 4, 3, 3], middles), draw(0.03, stored), loaded)
             for sd, stored, loaded in product((0.01, 0.2), numbers, (quiet, some))]
    yield "history", {"about": "a run and the mean of H runs: error^2 = max(s~2 (1 + 1/H), w / n)", "cases": cases}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    differing = []
    for name, vector in vectors():
        path, vector = HERE / f"{name}.json", plain(vector)
        if "--check" not in sys.argv:
            path.write_text(text(vector))
        elif not same(json.loads(path.read_text()), vector):
            differing.append(name)
    print(f"these differ: {', '.join(differing)}" if differing else "all vectors agree")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
