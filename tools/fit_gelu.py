"""Prints the coefficients in libtrain/kernels/gelu.cpp. Needs numpy.

Each is an odd function f of x on [-limit, limit], written x * c(v) with v = x^2 - limit^2 / 2.
c is fitted in Chebyshev polynomials of t = 2 v / limit^2 by Lawson's iteration (least squares, the
weights multiplied by the errors), which tends to the least largest error |x c - f(x)|.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

POINTS = 4000
ROUNDS = 200


def distribution(x: float) -> float:
    return 0.5 * math.erf(x / math.sqrt(2))


def derivative(x: float) -> float:
    return distribution(x) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def fit(function: Callable[[float], float], limit: float, degree: int) -> tuple[np.ndarray, float]:
    t = -np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    x = limit * np.sqrt((t + 1) / 2)
    wanted = np.array([function(value) for value in x])
    terms = chebyshev.chebvander(t, degree) * x[:, None]
    weights = np.ones(POINTS)
    best, largest = np.zeros(degree + 1), math.inf
    for _ in range(ROUNDS):
        root = np.sqrt(weights)
        found = np.linalg.lstsq(terms * root[:, None], wanted * root, rcond=None)[0]
        errors = np.abs(terms @ found - wanted)
        if errors.max() < largest:
            best, largest = found, errors.max()
        weights *= errors
        weights /= weights.sum()
    scales = (2 / limit**2) ** np.arange(degree + 1)
    return chebyshev.cheb2poly(best) * scales, largest


for name, function, limit, degree in (
    ("kDistribution", distribution, 5.4, 14),
    ("kDerivative", derivative, 6.0, 17),
):
    coefficients, error = fit(function, limit, degree)
    print(f"{name}: centre {limit**2 / 2:.9g}F, largest error {error:.2g}")
    print(", ".join(f"{np.float32(value):.9g}F" for value in coefficients))
