"""A 1-D convolution on sound: `python examples/low_pass.py [IN.wav OUT.wav]` takes away what is above 2 kHz.

Without files it makes a second of two tones, 440 Hz and 8 kHz, and says what is left of each.
"""

import sys
import tempfile
import wave
from pathlib import Path

import numpy as np

import warpglass as wg
from warpglass.ladders import find_ladder

TAPS, CUT = 101, 2000.0


def read(path: str) -> tuple[np.ndarray, int]:
    """Samples of a file with one channel of 16 bits, between -1 and 1, and how many of them make a second."""
    with wave.open(path, "rb") as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            sys.exit(f"{path} must have one channel of 16 bits")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.astype(np.float32) / 32768, file.getframerate()


def write(path: str, samples: np.ndarray, rate: int) -> None:
    """Write samples as one channel of 16 bits."""
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(samples * 32767).clip(-32768, 32767).astype("<i2").tobytes())


def low_pass(samples: np.ndarray, rate: int) -> np.ndarray:
    """Convolve with a windowed sinc, a thread for every sample."""
    t = np.arange(TAPS) - TAPS // 2
    mask = (np.sinc(2 * CUT / rate * t) * np.hamming(TAPS)).astype(np.float32)
    mask /= mask.sum()
    n, out = samples.size, np.zeros_like(samples)
    kernel = wg.load(find_ladder("conv1d").rung("basic").kernels[0].file, "basic<float>")
    kernel[-(-n // 256), 256](samples, mask, out, np.int32(n), np.int32(TAPS))
    assert np.allclose(out, np.convolve(samples, mask)[TAPS // 2 : TAPS // 2 + n], atol=1e-5)
    return out


def level(samples: np.ndarray, rate: int, tone: float) -> float:
    """The amplitude of a tone."""
    t = np.arange(samples.size) / rate
    return float(2 * np.abs(np.mean(samples * np.exp(-2j * np.pi * tone * t))))


def main(source: str = "", target: str = "") -> None:
    """Filter a file."""
    if not source:
        source, target = (str(Path(tempfile.mkdtemp()) / name) for name in ("tones.wav", "filtered.wav"))
        t = np.arange(44100) / 44100
        write(source, 0.4 * np.sin(2 * np.pi * 440 * t) + 0.4 * np.sin(2 * np.pi * 8000 * t), 44100)
    samples, rate = read(source)
    filtered = low_pass(samples, rate)
    write(target, filtered, rate)
    for tone in (440.0, 8000.0):
        print(f"{tone:6.0f} Hz: {level(samples, rate, tone):.3f} -> {level(filtered, rate, tone):.3f}")
    print(f"written to {target}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
