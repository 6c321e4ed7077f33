"""Picture files: what each kind becomes, what is refused, and a picture made grey from file to file."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from warpglass.errors import ArgumentError
from warpglass.ladders.image.files import read_picture, write_picture

ROOT = Path(__file__).parents[2]
PIXELS = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)


def save(path: Path, picture: Image.Image, **options: Any) -> Path:
    """Write a picture as Pillow does."""
    picture.save(path, **options)
    return path


def deep_png(path: Path) -> Path:
    """Write a PNG of 2 x 2 pixels with 16 bits a channel, which Pillow can read but not write."""
    header = struct.pack(">IIBBBBB", 2, 2, 16, 2, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(range(12)) for _ in range(2))
    content = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        content += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(content)
    return path


def test_colours_survive(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", PIXELS)
    assert np.array_equal(read_picture(tmp_path / "a.png"), PIXELS)


@pytest.mark.parametrize("mode", ["L", "1", "P", "CMYK", "LA"])
def test_other_kinds_become_coloured(tmp_path: Path, mode: str) -> None:
    made = Image.fromarray(PIXELS).convert("L" if mode == "LA" else mode)
    made = made.convert(mode)
    found = read_picture(save(tmp_path / "a.tif", made))
    assert np.array_equal(found, np.array(made.convert("RGB")))


def test_transparency_shows_white(tmp_path: Path) -> None:
    alpha = np.zeros((5, 7, 1), np.uint8)
    alpha[2:] = 255
    found = read_picture(save(tmp_path / "a.png", Image.fromarray(np.concatenate([PIXELS, alpha], axis=2))))
    assert (found[:2] == 255).all()
    assert np.array_equal(found[2:], PIXELS[2:])


def test_a_photograph_is_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # a camera held on its side
    found = read_picture(save(tmp_path / "a.png", Image.fromarray(PIXELS), exif=exif))
    assert np.array_equal(found, np.rot90(PIXELS, -1))


def test_sixteen_bits_are_refused_by_name(tmp_path: Path) -> None:
    deep = Image.fromarray(np.zeros((3, 3), np.uint16))
    for path in (save(tmp_path / "grey.png", deep), deep_png(tmp_path / "colour.png")):
        with pytest.raises(ArgumentError, match=rf"{path.name} has 16 bits a channel; .* convert"):
            read_picture(path)
    floats = save(tmp_path / "floats.tif", Image.fromarray(np.zeros((3, 3), np.float32)))
    with pytest.raises(ArgumentError, match="mode F"):
        read_picture(floats)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(ArgumentError, match="no picture"):
        read_picture(tmp_path / "a.png")
    with pytest.raises(ArgumentError, match="no file"):
        read_picture(tmp_path / "b.png")
    whole = save(tmp_path / "c.png", Image.fromarray(np.repeat(PIXELS, 50, axis=0))).read_bytes()
    (tmp_path / "c.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArgumentError, match="cannot be read"):
        read_picture(tmp_path / "c.png")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="suffix"):
        write_picture(tmp_path / "a.unknown", PIXELS)
    with pytest.raises(ArgumentError, match="cannot be written"):
        write_picture(tmp_path / "missing" / "a.png", PIXELS)
    with pytest.raises(ArgumentError, match="int64"):
        write_picture(tmp_path / "a.png", PIXELS.astype(np.int64))


def test_from_file_to_file(tmp_path: Path) -> None:
    source, target = tmp_path / "in.png", tmp_path / "out.png"
    write_picture(source, PIXELS)
    script = str(ROOT / "examples" / "picture.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for arguments in (("grey", source, target), ("sharpen", source), ("blur", tmp_path / "none.png")):
        command = [sys.executable, script, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        assert (done.returncode == 0) == (arguments[0] == "grey")
    red, green, blue = np.moveaxis(PIXELS.astype(int), -1, 0)
    assert np.abs(np.array(Image.open(target)) - (21 * red + 71 * green + 7 * blue) // 100).max() <= 1
