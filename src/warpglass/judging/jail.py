"""A process that gives away its rights: what code of strangers runs in (Linux; Landlock and seccomp).

Belongs here: asking the kernel for the limits. `enter` is called before anything of the stranger's is read
and before any thread is started. Afterwards the process, and nothing that it does can change it,

* reads only the folders named (the interpreter's, the packages', the compiler's) and writes only one folder,
* starts no process, opens no socket, sends no signal to others, looks into no other process,
* has bounded memory, processor time, files and file sizes,
* ends with the thread that started it.

It imports nothing of this package, so that a small child can load it first. Sources: Linux's
Documentation/userspace-api/landlock.rst and seccomp_filter.rst, and its tables of system calls.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

# Landlock's rights for files, in the order of their bits, with the version of the interface that has them.
_FILE_RIGHTS = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 5)
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_TRUNCATE, _DEVICE = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE  # the others are rights of folders
_NETWORK, _NETWORK_SINCE = 0b11, 4  # bind and connect of TCP
_SCOPES, _SCOPES_SINCE = 0b11, 6  # abstract sockets and signals
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # alike on all processors

_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 38  # of prctl
_O_PATH = getattr(os, "O_PATH", 0)
_PERMISSION = 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
_MISSING = 0x00050000 | 38  # ... with ENOSYS, at which the C library takes clone for clone3
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_THREAD = 0x00010000  # CLONE_THREAD

# By processor: the audit number of its architecture; then system calls by name, with their numbers there.
_PROCESSORS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS = {"seccomp": (317, 277), "clone": (56, 220), "clone3": (435, 435)}
# What is refused: processes, sockets, signals and memory of others, mounts, tracing, loading into the kernel.
# tgkill is not among them, since a process ends itself with it; Landlock keeps it from others.
_REFUSED = {
    **{"fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281)},
    **{"socket": (41, 198), "socketpair": (53, 199), "io_uring_setup": (425, 425)},
    **{
        "kill": (62, 129),
        "tkill": (200, 130),
        "rt_sigqueueinfo": (129, 138),
        "pidfd_send_signal": (424, 424),
    },
    **{"rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"userfaultfd": (323, 282), "perf_event_open": (298, 241), "bpf": (321, 280)},
    **{"mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51)},
    **{
        "mount_setattr": (442, 442),
        "unshare": (272, 97),
        "setns": (308, 268),
        "open_by_handle_at": (304, 265),
    },
    **{"swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "acct": (163, 89)},
    **{"quotactl": (179, 60), "init_module": (175, 105), "finit_module": (313, 273)},
    **{"delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294)},
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
}


def available() -> str:
    """Why strangers' code cannot be shut in on this machine; empty if it can."""
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has neither Landlock nor seccomp"
    if platform.machine() not in _PROCESSORS:
        return f"the system calls of {platform.machine()} are not known here"
    if _version() < 1:
        return "this Linux has no Landlock (5.13 or newer, and not switched off)"
    return ""


def enter(readable: Iterable[str], writable: str, memory: int, seconds: int, file_size: int) -> None:
    """Give away all rights but those above; raises OSError if the system refuses.

    `readable` are files and folders, `writable` a folder; `memory` and `file_size` are in bytes, `seconds`
    are of processor time.
    """
    assert resource is not None
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_NOFILE, 512),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))
    library = ctypes.CDLL(None, use_errno=True)
    _ask(library.prctl(_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0), "prctl")
    _ask(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
    _shut_files(library, readable, writable)
    _shut_calls(library)


def _version() -> int:
    library = ctypes.CDLL(None, use_errno=True)
    return int(library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _ask(status: int, what: str) -> int:
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return status


def _shut_files(library: ctypes.CDLL, readable: Iterable[str], writable: str) -> None:
    version = _version()
    rights = sum(1 << bit for bit, since in enumerate(_FILE_RIGHTS) if version >= since)
    network = _NETWORK if version >= _NETWORK_SINCE else 0
    scopes = _SCOPES if version >= _SCOPES_SINCE else 0
    head = struct.pack("<QQQ", rights, network, scopes)
    size = 24 if scopes else 16 if network else 8
    ruleset = _ask(
        library.syscall(_CREATE_RULESET, head, ctypes.c_size_t(size), ctypes.c_uint32(0)), "landlock"
    )
    wanted = [(path, _EXECUTE | _READ | _LIST) for path in readable] + [(writable, rights)]
    wanted += [("/dev/null", _READ | _WRITE), ("/dev/urandom", _READ)]
    for path, allowed in wanted:
        try:
            place = os.open(path, _O_PATH | os.O_CLOEXEC)
        except OSError:  # a folder of sys.path that is not there
            continue
        if not Path(path).is_dir():
            allowed &= _OF_FILES
        rule = struct.pack("<Qi", allowed & rights, place)
        _ask(library.syscall(_ADD_RULE, ruleset, 1, rule, ctypes.c_uint32(0)), f"landlock of {path}")
        os.close(place)
    _ask(library.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)), "landlock")
    os.close(ruleset)


def _shut_calls(library: ctypes.CDLL) -> None:
    machine = platform.machine()
    column = list(_PROCESSORS).index(machine)
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_EQUAL, 1, 0, _PROCESSORS[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, 0, 1, 0x40000000),  # of another table, x32's
        (_RETURN, 0, 0, _PERMISSION),
        (_EQUAL, 0, 1, _CALLS["clone3"][column]),
        (_RETURN, 0, 0, _MISSING),
    ]
    for numbers in _REFUSED.values():
        if (number := numbers[column]) is not None:
            program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _PERMISSION)]
    program += [
        (_EQUAL, 0, 3, _CALLS["clone"][column]),
        (_LOAD, 0, 0, 16),  # its flags
        (_ANY_BIT, 1, 0, _THREAD),
        (_RETURN, 0, 0, _PERMISSION),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(struct.pack("<HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(code, len(code))
    filter_ = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(held))
    number = _CALLS["seccomp"][column]
    _ask(library.syscall(number, ctypes.c_uint(1), ctypes.c_uint(1), filter_), "seccomp")  # of all threads
