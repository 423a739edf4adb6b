"""Samples of the matrices family."""

# Fourier transforms: of lengths as they are, cut and filled; over one dimension, two and several.
LINES = ["f(8)", "f(3, 15)", "f(3, 8), 5", "f(3, 8), 12, 0, 'ortho'", "f(17), norm='forward'", "f(2, 5, 3), dim=1", "f(4, 1)"]
HALF_LINES = [
    "f(8)",
    "f(3, 15)",
    "c64(5)",
    "c64(3, 6), 11",
    "c128(5)",
    "c128(3, 6), 8, 0, 'ortho'",
    "c128(3, 6), norm='forward'",
    "f(3, 8), 1",
]
PLANES = [
    "f(4, 6)",
    "f(2, 3, 5)",
    "f(2, 3, 5), [4, 4]",
    "f(4, 3, 5), [3, -1], [0, 2], 'ortho'",
    "f(4, 3, 5), dim=[1, 0], norm='forward'",
    "f(4, 3, 5), dim=[1]",
]
HALF_PLANES = [
    "c64(4, 6)",
    "f(4, 6)",
    "c64(2, 3, 5), [4, 5]",
    "c128(4, 3, 5), [3, -1], [0, 2], 'ortho'",
    "c128(4, 3, 5), dim=[1, 0], norm='forward'",
]
BLOCKS = [
    "f(6)",
    "f(2, 3, 5)",
    "f(2, 3, 5), [4]",
    "f(2, 3, 5), [3, 4, 2]",
    "f(4, 3, 5), [3, -1], [0, 2], 'ortho'",
    "f(4, 3, 5), dim=[2, 0], norm='forward'",
]
HALF_BLOCKS = [
    "f(6)",
    "c64(2, 3, 5)",
    "c64(2, 3, 5), [4]",
    "c128(2, 3, 5), [3, 4, 7]",
    "c128(4, 3, 5), [3, -1], [0, 2], 'ortho'",
    "c128(4, 3, 5), dim=[2, 0], norm='forward'",
]

FOURIER = {
    **dict.fromkeys(["fft_fft", "fft_ifft", "fft_rfft", "fft_ihfft"], LINES),
    **dict.fromkeys(["fft_irfft", "fft_hfft"], HALF_LINES),
    **dict.fromkeys(["fft_fft2", "fft_ifft2", "fft_rfft2", "fft_ihfft2"], PLANES),
    **dict.fromkeys(["fft_irfft2", "fft_hfft2"], HALF_PLANES),
    **dict.fromkeys(["fft_fftn", "fft_ifftn", "fft_rfftn", "fft_ihfftn"], BLOCKS),
    **dict.fromkeys(["fft_irfftn", "fft_hfftn"], HALF_BLOCKS),
}

SAMPLES = {
    "matmul": ["f(3, 4), f(4, 5)", "f(4), f(4)", "f(3, 4), f(4)", "f(4), f(4, 5)", "f(2, 3, 4), f(2, 4, 5)", "f(2, 1, 3, 4), f(5, 4, 2)",
               "f(0, 4), f(4, 5)", "f(3, 0), f(0, 5)", "f(17, 33), f(33, 19)"],
    "mm": ["f(3, 4), f(4, 5)", "f(0, 4), f(4, 5)", "f(3, 0), f(0, 5)", "f(17, 33), f(33, 19)", "f(1, 70), f(70, 1)"],
    "bmm": ["f(2, 3, 4), f(2, 4, 5)", "f(0, 3, 4), f(0, 4, 5)", "f(3, 2, 0), f(3, 0, 2)"],
    "mv": ["f(3, 4), f(4)"],
    "dot": ["f(5), f(5)", "f(0), f(0)", "f(100), f(100)"],
    "vdot": ["f(5), f(5)"],
    "ger": ["f(3), f(4)"],
    "inner": ["f(5), f(5)", "f(3, 4), f(2, 4)", "f(2, 3, 4), f(4)", "f(), f()"],
    "addr": ["f(3, 4), f(3), f(4)", "f(3, 4), f(3), f(4), beta=0.5, alpha=2"],
    "outer": ["f(3), f(4)"],
    "addmm": ["f(3, 5), f(3, 4), f(4, 5)", "f(5), f(3, 4), f(4, 5), beta=2, alpha=3", "f(1), f(3, 4), f(4, 5), beta=0"],
    "addmv": ["f(3), f(3, 4), f(4)"],
    "addbmm": ["f(3, 5), f(2, 3, 4), f(2, 4, 5)"],
    "baddbmm": ["f(2, 3, 5), f(2, 3, 4), f(2, 4, 5)", "f(5), f(2, 3, 4), f(2, 4, 5), beta=0.5, alpha=2"],
    "linear": ["f(3, 4), f(5, 4), f(5)", "f(3, 4), f(5, 4)", "f(2, 3, 4), f(5, 4), f(5)", "f(4), f(5, 4), f(5)", "f(0, 4), f(5, 4), f(5)"],
    "bilinear": ["f(3, 4), f(3, 5), f(2, 4, 5), f(2)"],
    "einsum": ["'ij,jk->ik', f(3, 4), f(4, 5)", "'bij,bjk->bik', f(2, 3, 4), f(2, 4, 5)", "'ii->i', f(4, 4)", "'ij->', f(3, 4)", "'i,j->ij', f(3), f(4)",
               "'...ij,...jk->...ik', f(2, 3, 4), f(2, 4, 5)"],
    "tensordot": ["f(2, 3, 4), f(3, 4, 5), 2", "f(2, 3, 4), f(4, 2), ([0, 2], [1, 0])"],
    "trace": ["f(4, 4)", "f(3, 5)"],
    **FOURIER,
    "cdist": ["f(3, 4), f(5, 4)"],
    "scaled_dot_product_attention": ["f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 4)", "f(2, 5, 4), f(2, 5, 4), f(2, 5, 4), is_causal=True",
        "f(2, 3, 5, 4), f(2, 3, 6, 4), f(2, 3, 6, 4), b(5, 6)", "f(2, 5, 4), f(2, 6, 4), f(2, 6, 3), f(5, 6)",
        "f(2, 5, 4), f(2, 6, 4), f(2, 6, 3), scale=0.3"],
}  # fmt: skip
