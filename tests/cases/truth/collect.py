"""Measures this folder's cases with a GPU's hardware counters: python tests/cases/truth/collect.py OUT

Needs nvcc, Nsight Compute (ncu) and cuda.bindings. X.cu is compiled for the cases of X.json; the PTX texts of
the Python kernels are assembled. Every case runs once by itself from fresh arguments (sums and checksums of
its arrays, registers), then once under ncu, with caches flushed between passes and clocks alone. In OUT:

    SET_h200.json.gz   case -> metrics, resources and what the plain launch left
    source.csv.gz      ncu's counters of every machine instruction of every case
    cubins.zip         what ran, to be disassembled

A case that fails is listed with its reason and does not stop the rest. What is done is written after every
group of cases, so nothing is lost when time runs out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

from more_launch import Case, entry_pattern, read_cases
from more_ncu import Work, call, profile, runner, say

from warpglass.engine.gpu.driver import lower_version
from warpglass.source.elf import read_elf

HERE = Path(__file__).parent
SETS = "more,more_py,open,more_rules"
PTX_ISA = (9, 0)  # what nvcc 13.0 reads; newer compilers stamp newer versions on the same instructions
BUDGET = 310  # seconds in all


def main() -> None:
    """Compile, run, measure, write."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for the results")
    parser.add_argument("--extra", type=Path, help="open.cu where it is not in this folder")
    parser.add_argument("--sets", default=SETS, help="which sets, in this order")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds in all")
    options = parser.parse_args()
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = [item for word in options.sets.split(",") for item in prepare(word, folder, options.extra)]
        write_cubins(work, options.out)
        say(f"{len(work)} cases compiled, {time.monotonic() - began:.0f} s")
        run_plainly(work, folder)
        write(work, options.out)
        say(f"all run by themselves, {time.monotonic() - began:.0f} s")
        if ready := [item for item in work if "failure" not in item.found]:
            for source in profile(ready, folder, began + options.budget):
                write(work, options.out)
                with gzip.open(options.out / "source.csv.gz", "at") as file:
                    file.write(source)
    for item in work:
        if "metrics" not in item.found:
            say(f"{item.set} {item.case.id}: {item.found.get('failure', 'not measured')}")
    measured = sum("metrics" in item.found for item in work)
    say(f"{measured} of {len(work)} cases measured, {time.monotonic() - began:.0f} s")


# ---------------------------------------------------------------------------------------- machine code
def prepare(name: str, folder: Path, extra: Path | None) -> list[Work]:
    """Compile a set; cases without machine code are reported and left out."""
    source = HERE / f"{name}.cu"
    if name == "open" and not source.exists() and extra is not None:
        source = extra
    described = source.with_suffix(".json")
    if not described.exists():
        say(f"set {name}: there is no {described}")
        return []
    cases = read_cases(described)
    try:
        images = python_images(name, folder) if name.endswith("_py") else [cuda_image(source, cases, folder)]
    except subprocess.CalledProcessError as error:
        say(f"set {name}: {error.stderr}")
        return []
    entries = [(image, entry) for image in images for entry in entries_of(image)]
    found: list[Work] = []
    for case in cases:
        pattern = entry_pattern(case.kernel)
        fits = [(image, entry) for image, entry in entries if pattern.fullmatch(entry)]
        if name.endswith("_py"):  # PTX texts are named after their cases
            fits = [(image, entry) for image, entry in entries if image.stem == case.id]
        if len(fits) == 1:
            found.append(Work(name, case, described, *fits[0]))
        else:
            say(f"{name} {case.id}: {len(fits)} kernels are called {case.kernel}")
    return found


def cuda_image(source: Path, cases: list[Case], folder: Path) -> Path:
    """The cubin of a file with all its instances: a kernel whose address is taken is instantiated."""
    text = "".join(
        f"auto *const instance_{number} = &{kernel};\n"
        for number, kernel in enumerate(dict.fromkeys(case.kernel for case in cases))
    )
    unit, image = folder / f"{source.stem}_unit.cu", folder / f"{source.stem}.cubin"
    unit.write_text(f'#include "{source.resolve()}"\n{text}')
    options = ("-arch=sm_90", "-lineinfo", "-std=c++17", "--diag-suppress=177")
    call("nvcc", "-cubin", *options, str(unit), "-o", str(image))
    return image


def python_images(name: str, folder: Path) -> list[Path]:
    """A cubin per PTX text of the archive beside the set."""
    texts: dict[str, str] = json.loads(gzip.decompress((HERE / f"{name}.ptx.json.gz").read_bytes()))
    images: list[Path] = []
    for case, ptx in texts.items():
        source = folder / f"{case}.ptx"
        source.write_text(lower_version(ptx, PTX_ISA))
        images.append(source.with_suffix(".cubin"))
        call("nvcc", "-cubin", "-arch=sm_90", "-lineinfo", str(source), "-o", str(images[-1]))
    return images


def entries_of(image: Path) -> list[str]:
    """The kernels in a cubin: each has a constant bank 0 for its parameters."""
    bank = ".nv.constant0."
    names = (section.name for section in read_elf(image.read_bytes()).sections)
    return [name.removeprefix(bank) for name in names if name.startswith(bank)]


# ---------------------------------------------------------------------------------------- plain runs, results
def run_plainly(work: list[Work], folder: Path) -> None:
    """Run every case by itself; a new process goes on after one that lost its context."""
    left = work
    while left:
        command, lines = runner(left, folder, check=True)
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
            problem = ended.stderr.strip()[-500:] or f"the runner ended with status {ended.returncode}"
        except subprocess.TimeoutExpired:
            problem = "did not end"
        said = [json.loads(line) for line in lines.read_text().splitlines()]
        for item, found in zip(left, said, strict=False):
            item.found = found
        if len(said) < len(left) and not (said and "failure" in said[-1]):
            left[len(said)].found = {"failure": problem}
            said.append({})
        left = left[len(said) :]


def write(work: list[Work], out: Path) -> None:
    """Write what is known of each set."""
    for name in dict.fromkeys(item.set for item in work):
        rows = {item.case.id: item.found for item in work if item.set == name}
        text = json.dumps(rows, indent=0, sort_keys=True) + "\n"
        (out / f"{name}_h200.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def write_cubins(work: list[Work], out: Path) -> None:
    """Keep the machine code."""
    with zipfile.ZipFile(out / "cubins.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for image in dict.fromkeys(item.image for item in work):
            archive.write(image, image.name)


if __name__ == "__main__":
    main()
