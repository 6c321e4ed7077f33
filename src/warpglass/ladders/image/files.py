"""Pictures from files and into files, as the arrays that the image ladder's kernels work on.

Belongs here: which kinds of picture there are and what becomes of each. A kernel gets rows x columns x 3
bytes, red, green and blue; what has no more than 8 bits a channel is converted to that, what has more is
refused rather than cut down in silence.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ...errors import ArgumentError
from ..problem import Array

# Pillow's modes of at most 8 bits a channel; those with an alpha channel are laid on white.
_PLAIN = ("RGB", "L", "1", "P", "CMYK", "YCbCr", "HSV")
_WITH_ALPHA = ("RGBA", "RGBa", "LA", "La", "PA")


def read_picture(path: str | Path) -> Array:
    """Return a picture as uint8 [rows, columns, 3], upright.

    Grey, palette and two-colour pictures become coloured ones, transparency shows white. Raises ArgumentError
    for a file that is no picture, and for one with more than 8 bits a channel.
    """
    try:
        with Image.open(path) as opened:
            _check_depth(opened, path)
            picture = ImageOps.exif_transpose(opened)
            if picture.mode in _WITH_ALPHA or "transparency" in picture.info:
                picture = picture.convert("RGBA")
                white = Image.new("RGBA", picture.size, "white")
                picture = Image.alpha_composite(white, picture)
            return np.array(picture.convert("RGB"))
    except FileNotFoundError:
        raise ArgumentError(f"there is no file {path}") from None
    except UnidentifiedImageError:
        raise ArgumentError(f"{path} is no picture of a format that Pillow reads") from None
    except Image.DecompressionBombError as error:
        raise ArgumentError(f"{path}: {error}") from None
    except OSError as error:  # cut off or damaged
        raise ArgumentError(f"{path} cannot be read as a picture: {error}") from None


def write_picture(path: str | Path, picture: Array) -> None:
    """Write uint8 [rows, columns] or [rows, columns, 3] in the format of the file's suffix."""
    if picture.dtype != np.uint8 or not (picture.ndim == 2 or picture.shape[2:] == (3,)):
        raise ArgumentError(
            f"a picture is uint8 [rows, columns] or [rows, columns, 3], not {picture.dtype} {picture.shape}"
        )
    try:
        Image.fromarray(picture).save(path)
    except ValueError:  # an unknown suffix
        raise ArgumentError(
            f"{path}: Pillow writes no files of this suffix; .png is one that it does"
        ) from None
    except OSError as error:
        raise ArgumentError(f"{path} cannot be written: {error}") from None


def _check_depth(picture: Image.Image, path: str | Path) -> None:
    """Refuse what the bytes of a channel cannot hold, also where Pillow would cut it down while reading."""
    tiles = getattr(picture, "tile", None)  # how the file holds its pixels
    stored = str(tiles[0][3]) if tiles else ""
    if ";16" in stored or picture.mode not in (*_PLAIN, *_WITH_ALPHA):
        kind = "16 bits a channel" if "16" in f"{stored}{picture.mode}" else f"Pillow's mode {picture.mode}"
        raise ArgumentError(
            f"{path} has {kind}; the kernels take 8 bits a channel, so convert the picture to that first"
        )
