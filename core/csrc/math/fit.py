"""Minimax polynomial fits behind the constants of this folder (needs mpmath).

Run ``python fit.py NAME`` to print one table, ``python fit.py`` to list the names. Each fit minimises
``max |w(x) * (f(x) - p(x))|`` with the Remez exchange algorithm in 60-digit arithmetic; the coefficients are
printed lowest power first, rounded to the format that evaluates them. The names of ``SERIES`` print Chebyshev series.
"""

import sys

import mpmath as mp

mp.mp.dps = 60


def remez(f, weight, lo, hi, degree, iterations=8):
    """Coefficients (lowest first) and the weighted error of the best polynomial of `degree` on [lo, hi]."""
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    count = degree + 2
    # Shifted off the symmetric positions: a node must not sit where the weight vanishes.
    nodes = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * (k + mp.mpf("0.53")) / count) for k in range(count)]
    best = None
    for _ in range(iterations):
        matrix = mp.matrix(count, count)
        right = mp.matrix(count, 1)
        for row, x in enumerate(nodes):
            for power in range(degree + 1):
                matrix[row, power] = x**power
            matrix[row, degree + 1] = (-1) ** row / weight(x)
            right[row] = f(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[k] for k in range(degree + 1)]

        def error(x, coefficients=coefficients):
            return weight(x) * (f(x) - mp.polyval(coefficients[::-1], x))

        samples = 40 * count
        grid = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * k / samples) for k in range(samples + 1)]
        values = [error(x) for x in grid]
        extrema = []
        for k in range(samples + 1):
            left = k == 0 or abs(values[k]) >= abs(values[k - 1]) or values[k] * values[k - 1] < 0
            right_ok = k == samples or abs(values[k]) >= abs(values[k + 1]) or values[k] * values[k + 1] < 0
            if left and right_ok:
                if extrema and values[extrema[-1]] * values[k] > 0:
                    if abs(values[k]) > abs(values[extrema[-1]]):
                        extrema[-1] = k
                else:
                    extrema.append(k)
        while len(extrema) > count:
            extrema.pop(0 if abs(values[extrema[0]]) < abs(values[extrema[-1]]) else -1)
        worst = max(abs(v) for v in values)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        if len(extrema) < count or worst < abs(solution[degree + 1]) * mp.mpf("1.001"):
            break
        nodes = [grid[k] for k in extrema]
    return best


def ratio(top, bottom):
    """top(x) / bottom(x), continued through a removable singularity at 0."""

    def value(x):
        if abs(x) < mp.mpf(10) ** -20:
            x = mp.mpf(10) ** -20
        return top(x) / bottom(x)

    return value


def show(name, f, weight, lo, hi, degree, double):
    coefficients, worst = remez(f, weight, lo, hi, degree)
    print(
        f"// {name}: degree {degree} on [{mp.nstr(mp.mpf(lo), 8)}, {mp.nstr(mp.mpf(hi), 8)}], weighted error 2^{mp.nstr(mp.log(worst, 2), 4)}"
    )
    digits = 17 if double else 9
    print(", ".join(mp.nstr(c, digits + 1) + ("" if double else "f") for c in coefficients))


LN2 = mp.log(2)
HALF = LN2 / 2 * mp.mpf("1.0001")


def one(_):
    return mp.mpf(1)


def square(x):
    return x * x


def series(first, step, terms=40):
    """sum of first(k) * s^k, a power series in s that is safe at s = 0."""

    def value(s):
        return mp.fsum(first(k) * mp.mpf(s) ** k for k in range(0, terms, step))

    return value


def bessel_i_small(order):
    """I(x) over (x / 2)^order, a function of t = (x / 2)^2."""
    return lambda t: mp.hyp0f1(order + 1, t) / mp.factorial(order)


def bessel_i_large(order):
    """sqrt(x) exp(-x) I(x), a function of u = 8 / x - 1/2."""

    def value(u):
        x = 8 / max(u + mp.mpf("0.5"), mp.mpf(10) ** -25)
        return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)

    return value


def erfcx_scaled(a):
    """(a + 2) exp(a^2) erfc(a)."""
    return (a + 2) * mp.hyperu(0.5, 0.5, a * a) / mp.sqrt(mp.pi)


def show_relative(name, f, lo, hi, degree, double):
    show(name, f, lambda x: 1 / f(x), lo, hi, degree, double)


FITS = {
    # exp(r) = 1 + r + r^2 q(r) with |r| <= ln(2) / 2
    "exp": lambda degree, double: show("exp", ratio(lambda x: mp.expm1(x) - x, square), square, -HALF, HALF, degree, double),
    # exp(r) with the same |r|
    "exp_within": lambda degree, double: show("exp_within", mp.exp, lambda r: mp.exp(-r), -HALF, HALF, degree, double),
    # 2^r = 1 + r q(r), |r| <= 1/2
    "exp2": lambda degree, double: show(
        "exp2", ratio(lambda x: mp.expm1(x * LN2), lambda x: x), lambda x: x, "-0.50001", "0.50001", degree, double
    ),
    # log(1 + f) = f - f^2 / 2 + f^3 q(f), sqrt(1/2) <= 1 + f <= sqrt(2)
    "log": lambda degree, double: show(
        "log",
        ratio(lambda x: mp.log1p(x) - x + x * x / 2, lambda x: x**3),
        lambda x: x**2,
        mp.sqrt(0.5) - 1,
        mp.sqrt(2) - 1,
        degree,
        double,
    ),
    # log((1 + s) / (1 - s)) = 2 s + s^3 q(s^2)
    "log_atanh": lambda degree, double: show(
        "log_atanh", series(lambda k: mp.mpf(2) / (2 * k + 3), 1, 60), lambda z: z, 0, mp.mpf("0.02944"), degree, double
    ),
    # sin(x) = x + x^3 q(x^2), |x| <= pi/4
    "sin": lambda degree, double: show(
        "sin",
        series(lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3), 1),
        lambda z: z,
        0,
        (mp.pi / 4) ** 2 * mp.mpf("1.001"),
        degree,
        double,
    ),
    # cos(x) = 1 - x^2 / 2 + x^4 q(x^2)
    "cos": lambda degree, double: show(
        "cos",
        series(lambda k: (-1) ** k / mp.factorial(2 * k + 4), 1),
        lambda z: z * z,
        0,
        (mp.pi / 4) ** 2 * mp.mpf("1.001"),
        degree,
        double,
    ),
    # atan(x) = x + x^3 q(x^2), |x| <= 1
    "atan": lambda degree, double: show(
        "atan",
        ratio(lambda z: mp.atan(mp.sqrt(z)) - mp.sqrt(z), lambda z: mp.sqrt(z) * z),
        lambda z: z,
        0,
        1,
        degree,
        double,
    ),
    # the same for |x| <= tan(pi/8) (double uses three intervals)
    "atan_small": lambda degree, double: show(
        "atan_small",
        ratio(lambda z: mp.atan(mp.sqrt(z)) - mp.sqrt(z), lambda z: mp.sqrt(z) * z),
        lambda z: z,
        0,
        (mp.sqrt(2) - 1) ** 2,
        degree,
        double,
    ),
    # asin(x) = x + x^3 q(x^2), |x| <= 1/2
    "asin": lambda degree, double: show(
        "asin",
        ratio(lambda z: mp.asin(mp.sqrt(z)) - mp.sqrt(z), lambda z: mp.sqrt(z) * z),
        lambda z: z,
        0,
        "0.25",
        degree,
        double,
    ),
    # sinh(x) = x + x^3 q(x^2), |x| <= 1
    "sinh": lambda degree, double: show("sinh", series(lambda k: 1 / mp.factorial(2 * k + 3), 1), lambda z: z, 0, 1, degree, double),
    # tan(x) = x + x^3 q(x^2), |x| <= pi/4
    "tan": lambda degree, double: show(
        "tan",
        ratio(lambda z: mp.tan(mp.sqrt(z)) - mp.sqrt(z), lambda z: mp.sqrt(z) * z),
        lambda z: z,
        0,
        (mp.pi / 4) ** 2 * mp.mpf("1.001"),
        degree,
        double,
    ),
    # sin(pi r) / (pi r) = 1 + z q(z), z = r^2, |r| <= 1/2
    "sinc": lambda degree, double: show(
        "sinc",
        ratio(lambda z: mp.sincpi(mp.sqrt(z)) - 1, lambda z: z),
        lambda z: z,
        0,
        "0.25",
        degree,
        double,
    ),
    # (a + 2) erfcx(a), a function of t = (a - 2) / (a + 2), a >= 0.45
    "erfcx": lambda degree, double: show(
        "erfcx",
        lambda t: erfcx_scaled(2 * (1 + t) / max(1 - t, mp.mpf(10) ** -12)),
        lambda t: 1,
        mp.mpf("-1.55") / mp.mpf("2.45"),
        1,
        degree,
        double,
    ),
    "bessel_i0_small": lambda degree, double: show_relative("bessel_i0_small", bessel_i_small(0), 0, 16, degree, double),
    "bessel_i1_small": lambda degree, double: show_relative("bessel_i1_small", bessel_i_small(1), 0, 16, degree, double),
    "bessel_i0_large": lambda degree, double: show_relative("bessel_i0_large", bessel_i_large(0), "-0.5", "0.5", degree, double),
    "bessel_i1_large": lambda degree, double: show_relative("bessel_i1_large", bessel_i_large(1), "-0.5", "0.5", degree, double),
    # tanh(x) = x + x^3 q(x^2), |x| <= 0.55
    "tanh": lambda degree, double: show(
        "tanh",
        ratio(lambda z: mp.tanh(mp.sqrt(z)) - mp.sqrt(z), lambda z: mp.sqrt(z) * z),
        lambda z: z,
        0,
        "0.36",
        degree,
        double,
    ),
}


def chebyshev(f):
    """Coefficients of the Chebyshev series of f on [0, 1], down to rounding (bessel.h sums them with Clenshaw's recurrence)."""
    count = 64
    angles = [mp.pi * (k + mp.mpf("0.5")) / count for k in range(count)]
    values = [f((1 + mp.cos(a)) / 2) for a in angles]
    out = [mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True)) * (1 if j == 0 else 2) / count for j in range(count)]
    return out[: max(j for j in range(count) if abs(out[j]) > mp.mpf(2) ** -56) + 1]


def bessel_k(order):
    """sqrt(x) exp(x) K(x), a function of t = 2 / x."""
    return lambda t: mp.sqrt(2 / t) * mp.exp(2 / t) * mp.besselk(order, 2 / t)


def airy_decay(t):
    """Ai(x) over exp(-zeta) / (2 sqrt(pi) x^(1/4)), zeta = 2/3 x^(3/2), a function of t = zeta(2) / zeta."""
    zeta = mp.mpf(2) / 3 * mp.sqrt(8) / t
    x = (mp.mpf(3) / 2 * zeta) ** (mp.mpf(2) / 3)
    return mp.airyai(x) * 2 * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(zeta)


def airy_oscillation(odd):
    """The factors of cos and of sin (odd; over t) of zeta - pi / 4 in sqrt(pi) x^(1/4) Ai(-x), functions of t^2, t = zeta(3) / zeta."""

    def value(square):
        t = mp.sqrt(square)
        zeta = mp.mpf(2) / 3 * mp.sqrt(27) / t
        x = (mp.mpf(3) / 2 * zeta) ** (mp.mpf(2) / 3)
        scale, phase = mp.sqrt(mp.pi) * mp.root(x, 4), zeta - mp.pi / 4
        ai, bi = mp.airyai(-x) * scale, mp.airybi(-x) * scale
        return (ai * mp.sin(phase) + bi * mp.cos(phase)) / t if odd else ai * mp.cos(phase) - bi * mp.sin(phase)

    return value


SERIES = {
    "bessel_k0": bessel_k(0),
    "bessel_k1": bessel_k(1),
    "airy_decay": airy_decay,
    "airy_even": airy_oscillation(False),
    "airy_odd": airy_oscillation(True),
}


def main():
    if len(sys.argv) == 2 and sys.argv[1] in SERIES:
        print(", ".join(mp.nstr(c, 17) for c in chebyshev(SERIES[sys.argv[1]])))
        return
    if len(sys.argv) < 3:
        print(*FITS, *SERIES, sep="\n")
        return
    FITS[sys.argv[1]](int(sys.argv[2]), len(sys.argv) > 3 and sys.argv[3] == "double")


if __name__ == "__main__":
    main()
