"""Intervals and tests for a share of cases, exact for simple samples; all in plain Python.

A number of cases may be a fraction: an effective sample size, as weighted samples have one.
"""

from __future__ import annotations

import math

NORMAL = 1.959964
"""Standard normal quantile of a two-sided 95% interval."""

# The continued fraction of the incomplete beta function: relative precision, and more steps than it ever takes for the
# largest samples (about the square root of the number of cases).
_PRECISION, _STEPS, _TINY = 1e-14, 10_000, 1e-300
# 2^-60 is below the precision of a float near 1.
_HALVINGS = 60


def wilson(share: float, cases: float, normal: float = NORMAL) -> tuple[float, float]:
    """Return the interval of a share that was found in so many cases, more than none.

    Source: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    spread = normal * math.sqrt(share * (1.0 - share) / cases + (normal / (2 * cases)) ** 2)
    centre, scale = share + normal**2 / (2 * cases), 1.0 + normal**2 / cases
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def clopper_pearson(share: float, cases: float, rate: float = 0.95) -> tuple[float, float]:
    """Return the interval that covers the true share at least at the `rate`, for any share and number of cases.

    Source: Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the
    Binomial".
    """
    found, tail = share * cases, (1.0 - rate) / 2.0
    low = beta_quantile(tail, found, cases - found + 1.0) if found > 0.0 else 0.0
    high = beta_quantile(1.0 - tail, found + 1.0, cases - found) if found < cases else 1.0
    return low, high


def binomial_tail(most: int, cases: int, share: float) -> float:
    """Return the probability of at most `most` hits among `cases` independent ones, each a hit with this share."""
    if most >= cases:
        return 1.0
    return 0.0 if most < 0 else incomplete_beta(cases - most, most + 1.0, 1.0 - share)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the value below which a beta distribution has this probability; within 1e-15."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if incomplete_beta(a, b, middle) < probability else (low, middle)
    return (low + high) / 2.0


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function: the distribution function of a beta distribution.

    By Lentz's method for its continued fraction; see Press et al. 2007, "Numerical Recipes", section 6.4. `a` and `b`
    are greater than 0, and `x` is from 0 to 1.
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    # The continued fraction converges quickly on this side of the mean only; the function is symmetric.
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    # As logarithms: the factorials of a few hundred cases overflow a float.
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    value, c, d = 1.0, 1.0, 0.0
    for step in range(_STEPS):
        half = step // 2
        if step == 0:
            part = 1.0
        elif step % 2 == 0:
            part = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        else:
            part = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        # Lentz's method would divide by zero where a partial denominator vanishes.
        d = 1.0 / (1.0 + part * d or _TINY)
        c = 1.0 + part / c or _TINY
        value *= c * d
        if step and abs(1.0 - c * d) < _PRECISION:
            break
    return math.exp(front) * (value - 1.0) / a
