"""Writes core/quasirandom/joe_kuo.xz: the polynomials and first direction numbers of Joe and Kuo (2008), dimensions 1 to 21201.

    python tools/sobol_numbers.py

SciPy carries the published table; this repacks its columns, 32-bit little-endian, so that Trine needs no SciPy to read it.
"""

import lzma
from importlib import resources
from pathlib import Path

import numpy as np


def main() -> None:
    with resources.files("scipy.stats").joinpath("_sobol_direction_numbers.npz").open("rb") as file:
        table = np.load(file)
        columns = np.concatenate([table["poly"][None], table["vinit"].T]).astype("<u4")
    # bytes of one weight lie together: they compress better
    planes = columns.view(np.uint8).reshape(columns.size, 4).T.tobytes()
    target = Path(__file__).parents[1] / "core" / "quasirandom" / "joe_kuo.xz"
    target.write_bytes(lzma.compress(planes, preset=9))
    print(target.name, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
