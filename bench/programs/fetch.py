"""The files of a git repository that are at hand, written to a folder.

    python bench/programs/fetch.py REPOSITORY.git FOLDER

A mirror may lack its largest objects; they are left out and counted.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def fetch(repository: str, folder: Path) -> int:
    """Write the files of the newest commit below `folder`; returns how many are not at hand."""
    git = ("git", f"--git-dir={repository}")
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    rows = [row.split(b"\t", 1) for row in listing.split(b"\0") if row]
    missing = 0
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for head, name in rows:
            mode, kind, digest = head.split()
            if kind != b"blob" or mode == b"120000":
                continue
            process.stdin.write(digest + b"\n")
            process.stdin.flush()
            said = process.stdout.readline().split()
            if said[-1] == b"missing":
                missing += 1
                continue
            content = process.stdout.read(int(said[2]))
            process.stdout.read(1)
            path = folder / name.decode()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if mode == b"100755" else 0o644)
        process.stdin.close()
    return missing


if __name__ == "__main__":
    print(f"{fetch(sys.argv[1], Path(sys.argv[2]))} files are not at hand")
