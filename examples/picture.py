"""From a picture file to a picture file: `python examples/picture.py [grey | blur [PICTURE [RESULT]]]`.

Without a picture it takes the photograph that Matplotlib comes with.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.cbook
import numpy as np

import warpglass as wg
from warpglass.ladders import find_ladder
from warpglass.ladders.image.files import read_picture, write_picture
from warpglass.ladders.image.problem import blurred, grey_of


def make_grey(picture: np.ndarray) -> np.ndarray:
    """A thread for every pixel, in blocks of 16 x 16."""
    rows, columns, _ = picture.shape
    out = np.zeros((rows, columns), np.uint8)
    kernel = wg.load(find_ladder("image").rung("grey").kernels[0].file, "grey")
    kernel[(-(-columns // 16), -(-rows // 16)), (16, 16)](out, picture, np.int32(columns), np.int32(rows))
    return out


def blur(picture: np.ndarray) -> np.ndarray:
    """Sums along rows, then along columns: a thread for every byte."""
    rows, columns, _ = picture.shape
    sums, out = np.zeros(picture.shape, np.uint16), np.zeros_like(picture)
    grid, size = (-(-3 * columns // 256), rows), (np.int32(columns), np.int32(rows))
    file = find_ladder("image").rung("blur_separable").kernels[0].file
    for source, target, name in ((picture, sums, "add_rows"), (sums, out, "add_columns")):
        wg.load(file, name)[grid, 256](target, source, *size)
    return out


def main(what: str = "blur", source: str = "", result: str = "") -> None:
    """Read, compute, compare with NumPy, write."""
    if what not in ("grey", "blur"):
        sys.exit(f"picture.py makes pictures grey or blurs them: `grey` or `blur`, not {what!r}")
    path = source or str(matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
    try:
        picture = read_picture(path)
        made = make_grey(picture) if what == "grey" else blur(picture)
        if what == "grey":
            truth = grey_of(picture)
            right = bool((np.abs(made.astype(int) - truth.value) <= truth.bound).all())
        else:
            right = np.array_equal(made, blurred(picture))
        print(f"{what} of {picture.shape[1]} x {picture.shape[0]} pixels, right: {right}")
        target = result or str(Path(tempfile.mkdtemp()) / f"{what}.png")
        write_picture(target, made)
        print(f"written to {target}")
    except wg.ArgumentError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:4])
