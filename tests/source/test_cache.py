"""The disk cache: ownership, damage, concurrency, size; and PTX that follows its source."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpglass.errors import WarpglassError
from warpglass.source.cache import Cache, digest, directory, versions
from warpglass.source.relocate import Layout, Piece, attach, detach


def test_what_is_put_is_found(own_cache: Path) -> None:
    cache = Cache("test")
    key = digest("a", b"b")
    assert cache.get(key) is None
    cache.put(key, b"some\nbytes\0")
    assert cache.get(key) == b"some\nbytes\0"
    assert Cache("other").get(key) is None
    assert own_cache.stat().st_mode & 0o777 == 0o700


def test_parts_of_a_key_do_not_run_together() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest(b"abc"), digest("abc", "")}) == 5


@pytest.mark.parametrize("damage", [b"", b"garbage", b"0" * 64 + b"\nsome bytes", None])
def test_a_damaged_entry_is_discarded(own_cache: Path, damage: bytes | None) -> None:
    cache = Cache("test")
    key = digest("x")
    cache.put(key, b"payload")
    (file,) = (own_cache / "test").glob("*/*")
    file.write_bytes(file.read_bytes()[:-1] if damage is None else damage)
    assert cache.get(key) is None
    assert not file.exists()
    cache.put(key, b"payload")
    assert cache.get(key) == b"payload"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")
@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_directory_open_to_others_is_refused(own_cache: Path, mode: int) -> None:
    own_cache.chmod(mode)
    with pytest.raises(WarpglassError, match=rf"mode {mode:04o}.*chmod 700"):
        directory()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")
def test_a_directory_of_another_user_is_refused(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: own_cache.stat().st_uid + 1)
    with pytest.raises(WarpglassError, match="belongs to user"):
        directory()


def test_a_directory_is_made_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path / "new" / "cache"))
    made = directory()
    assert made is not None
    assert made.stat().st_mode & 0o777 == 0o700


def test_the_cache_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_CACHE", "")
    Cache("test").put(digest("x"), b"payload")
    assert Cache("test").get(digest("x")) is None


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(WarpglassError, match="cannot make this directory"):
        directory()


def test_pruning_drops_what_was_unused_for_longest(own_cache: Path) -> None:
    cache = Cache("test")
    for number in range(4):
        cache.put(digest(str(number)), bytes(1000))
    for age, file in enumerate(sorted((own_cache / "test").glob("*/*"))):
        os.utime(file, (age, age))
    assert cache.get(digest("2")) is not None  # used just now
    cache.prune(limit=2500)
    left = [number for number in range(4) if cache.get(digest(str(number))) is not None]
    assert len(left) == 2
    assert 2 in left


WRITER = """
import sys
from warpglass.source.cache import Cache, digest
cache = Cache("test")
for round in range(200):
    key = digest(str(round % 5))
    found = cache.get(key)
    assert found in (None, bytes([round % 5]) * 100_000), len(found)
    cache.put(key, bytes([round % 5]) * 100_000)
"""


def test_concurrent_processes_see_whole_entries_only() -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER], stderr=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors.decode()


# ---------------------------------------------------------------------------------------- attacks
KILLED = """
import importlib.metadata
import os
from pathlib import Path
from warpglass.source.cache import Cache, digest
Path.replace = lambda self, target: os._exit(9)  # dies with everything written and nothing in its place
Cache("test").put(digest("x"), b"payload")
"""


def test_a_writer_that_dies_leaves_no_entry(own_cache: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], timeout=60, check=False)
    assert done.returncode == 9
    cache = Cache("test")
    assert cache.get(digest("x")) is None
    (left,) = (own_cache / "test").glob("*/*")
    os.utime(left, (0, 0))
    cache.prune()
    assert not left.exists()
    cache.put(digest("x"), b"payload")
    assert cache.get(digest("x")) == b"payload"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX links")
def test_a_link_to_a_directory_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open")
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path / "link"))
    with pytest.raises(WarpglassError, match="mode 0777"):
        Cache("object").get(digest("x"))


def test_a_disk_that_takes_nothing_is_no_error(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    Cache("test").put(digest("x"), b"payload")
    assert Cache("test").get(digest("x")) is None


def test_an_entry_in_the_place_of_another_is_discarded(own_cache: Path) -> None:
    cache, keys = Cache("test"), (digest("x"), digest("y"))
    for key in keys:
        cache.put(key, key.encode())
    first, second = ((own_cache / "test" / key[:2] / key[2:]) for key in keys)
    second.write_bytes(first.read_bytes())
    assert cache.get(keys[0]) == keys[0].encode()
    assert cache.get(keys[1]) is None


def test_an_entry_that_is_no_file_is_no_error(own_cache: Path) -> None:
    key = digest("x")
    (own_cache / "test" / key[:2] / key[2:]).mkdir(parents=True)
    assert Cache("test").get(key) is None
    Cache("test").put(key, b"payload")


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("WARPGLASS_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert directory() is None


# ---------------------------------------------------------------------------------------- places
def test_lines_follow_their_functions() -> None:
    text = (
        "\t.loc\t1 10 3\n\t.loc\t1 21 0\n\t.loc\t1 0 0\n\t.loc\t2 7 1, function_name $L, inlined_at 1 11 2\n"
        '\t.file\t1 "/a/k.py"\n\t.file\t2 "/lib/other.py"\n'
    )
    before = Layout(pieces=(Piece("/a/k.py", 9, 5), Piece("/a/k.py", 20, 3)))
    after = Layout(pieces=(Piece("/b/k.py", 109, 5), Piece("/c/d.py", 1, 3)))
    moved = attach(detach(text, before), after)
    assert "/a/" not in moved
    assert '.file\t2 "/lib/other.py"' in moved
    files = {'3 "/b/k.py"', '4 "/c/d.py"'}
    assert all(f".file\t{file}" in moved for file in files)
    assert "\t.loc\t3 110 3\n\t.loc\t4 2 0\n\t.loc\t3 0 0\n" in moved
    assert "\t.loc\t2 7 1, function_name $L, inlined_at 3 111 2\n" in moved


def test_roots_are_replaced() -> None:
    text = '\t.loc\t1 3 0\n\t.file\t1 "/a/b/k.cu"\n\t.file\t2 "/a/b/h.h"\n\t.file\t3 "/cuda/x.h"\n'
    before = Layout(roots=("/a/b/k.cu", "/a/b", "/cuda"))
    after = Layout(roots=("/n/other.cu", "/n", "/opt/cuda"))
    assert detach(text, before).count('"@') == 3
    assert attach(detach(text, before), after) == (
        '\t.loc\t1 3 0\n\t.file\t1 "/n/other.cu"\n\t.file\t2 "/n/h.h"\n\t.file\t3 "/opt/cuda/x.h"\n'
    )


def test_a_distribution_is_looked_for_until_it_is_there(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def version(name: str) -> str:
        asked.append(name)
        if len(asked) < 2:
            raise importlib.metadata.PackageNotFoundError(name)
        return "7.1"

    monkeypatch.setattr(importlib.metadata, "version", version)
    name = "a-distribution-of-this-test"
    assert versions(name) is None
    assert versions(name) == versions(name) == f"{name} 7.1"
    assert len(asked) == 2
