"""Submissions that are wrong or hostile, each with the verdicts that are right for it.

The task is a vector sum, `add(const float *x, const float *y, float *out, int n)`.
"""

from __future__ import annotations

HEAD = 'extern "C" __global__ void add(const float *x, const float *y, float *out, int n)\n'
_INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
_LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
GOOD = HEAD + f"{{ {_LOOP} out[i] = x[i] + y[i]; }}\n"
_PYTHON = """from numba_cuda_mlir import cuda

def add(x, y, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = x[i] + y[i]
"""
_WRONG = _PYTHON.replace("x[i] + y[i]", "x[i]")
_BOMB = "\n".join(f"#define B{k + 1} B{k} B{k} B{k} B{k} B{k} B{k} B{k} B{k}" for k in range(12))


def _kernel(body: str, before: str = "") -> str:
    return f"{before}{HEAD}{{ {body} }}\n"


def _python(before: str) -> str:
    return f"{before}\n{_PYTHON}"


def _ptx(begin: str, before: str = "") -> str:
    """The sum in PTX, with something at its beginning."""
    return (
        f".version 8.0\n.target sm_80\n.address_size 64\n{before}"
        ".visible .entry add(.param .u64 px, .param .u64 py, .param .u64 po, .param .u32 pn) {\n"
        ".reg .pred %p<9>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<16>;\n"
        f"{begin}\n"
        "ld.param.u64 %rd1, [px]; ld.param.u64 %rd2, [py]; ld.param.u64 %rd3, [po]; ld.param.u32 %r1, [pn];\n"
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
        "mov.u32 %r6, %nctaid.x; mul.lo.s32 %r6, %r6, %r3;\n"
        "$next: setp.ge.s32 %p1, %r5, %r1; @%p1 ret;\n"
        "mul.wide.s32 %rd4, %r5, 4;\n"
        "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;\n"
        "ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];\n"
        "add.f32 %f3, %f1, %f2; st.global.f32 [%rd7], %f3;\n"
        "add.s32 %r5, %r5, %r6; bra $next;\n}\n"
    )


# By file name: the text, and the verdicts that are right for it.
CUDA: dict[str, tuple[str, tuple[str, ...]]] = {
    "good.cu": (GOOD, ("accepted",)),
    "hangs.cu": (_kernel("volatile int go = 1; while (go) {} out[0] = x[0];"), ("timeout",)),
    "returns_early.cu": (_kernel("return;"), ("unwritten",)),
    "one_block.cu": (_kernel("int i = threadIdx.x; if (i < n) out[i] = x[i] + y[i];"), ("unwritten",)),
    "only_known_sizes.cu": (
        _kernel(f"{_LOOP} out[i] = n == 1 || n == 77 ? x[i] + y[i] : 0;"),
        ("wrong",),
    ),
    "wrong.cu": (_kernel(f"{_LOOP} out[i] = x[i] - y[i];"), ("wrong",)),
    "off_by_one.cu": (_kernel(f"{_INDEX} if (i <= n) out[i] = x[i] + y[i];"), ("fault",)),
    "far_away.cu": (_kernel(f"{_LOOP} out[i] = x[i - 100000000] + y[i];"), ("fault",)),
    "null.cu": (_kernel("*(int *)nullptr = 1;"), ("fault",)),
    "traps.cu": (_kernel("__trap();"), ("fault",)),
    "asserts.cu": (_kernel("assert(n < 0);", "#include <cassert>\n"), ("fault",)),
    "races.cu": (
        _kernel(
            f"__shared__ float s[256]; {_INDEX} int t = threadIdx.x; int j = i ^ 1; if (i < n) s[t] = x[i];"
            "if (j < n) out[j] = s[t ^ 1] + y[j];"
            "int step = gridDim.x * blockDim.x;"
            "for (int k = i + step; k < n; k += step) out[k] = x[k] + y[k];"
        ),
        ("defect",),
    ),
    "writes_input.cu": (
        _kernel(f"{_LOOP} {{ out[i] = x[i] + y[i]; const_cast<float *>(x)[i] = 0; }}"),
        ("changed-input",),
    ),
    "floods.cu": (
        _kernel(f'for (int k = 0; k < 1000; ++k) printf("spam spam\\n"); {_LOOP} out[i] = x[i] + y[i];'),
        ("flood",),
    ),
    "wasteful.cu": (
        _kernel(
            "float z = 0; volatile const float *v = x;"
            "for (int k = 0; k < 64; ++k) z += v[(threadIdx.x * 37 + k) % n];"
            f"{_LOOP} out[i] = x[i] + y[i] + 0 * (z > 1e30f);"
        ),
        ("budget",),
    ),
    "recursive.cu": (
        _kernel(
            "out[0] = down(n, x);",
            "__device__ float down(int n, const float *x)"
            "{ volatile float a[512]; a[n % 512] = x[0]; return a[n % 512] + down(n + 1, x); }\n",
        ),
        ("fault", "timeout", "launch"),
    ),
    "no_semicolon.cu": (_kernel("return"), ("compile-error",)),
    "other_name.cu": (GOOD.replace("add(", "plus("), ("no-kernel",)),
    "doubles.cu": (GOOD.replace("float", "double"), ("signature",)),
    "three_arguments.cu": (
        'extern "C" __global__ void add(const float *x, const float *y, float *out) { out[0] = *x + *y; }',
        ("signature",),
    ),
    "shared_hog.cu": (
        _kernel("__shared__ int s[1 << 16]; s[n] = 1; out[0] = s[n - 1];"),
        ("launch", "compile-error"),
    ),
    "includes_secrets.cu": ('#include "/etc/passwd"\n' + GOOD, ("compile-error",)),
    "embeds_secrets.cu": (_kernel('asm(".incbin \\"/etc/passwd\\";");'), ("compile-error",)),
    "includes_environment.cu": ('#include "/proc/self/environ"\n' + GOOD, ("compile-error",)),
    "asks_for_files.cu": (
        '#if __has_include("/etc/passwd")\n#error found\n#endif\n' + GOOD,
        ("compile-error", "accepted"),
    ),
    "redefines_kernel.cu": ("#define __global__ __device__\n" + GOOD, ("no-kernel",)),
    "recurses_in_templates.cu": (
        _kernel("out[0] = R<0>::v;", "template <int N> struct R { static const int v = R<N + 1>::v; };\n"),
        ("compile-error", "compile-limit"),
    ),
    "calls_a_number.cu": (_kernel("((void (*)())0x1234)();"), ("fault",)),
    "macro_bomb.cu": (
        f"#define B0 int x;\n{_BOMB}\nstruct S {{ B12 }};\n{GOOD}",
        ("compile-limit", "compile-error"),
    ),
    "nested.cu": (_kernel(f"out[0] = {'(' * 60000}1{')' * 60000};"), ("wrong", "compile-error")),
    "empty.cu": ("  \n", ("unreadable",)),
    "notes.txt": ("please give me full marks", ("unreadable",)),
    "library.cu": (
        _kernel("cublasSaxpy(0, n, x, x, 1, out, 1);", "#include <cublas_v2.h>\n"),
        ("library",),
    ),
    # What they do differently from the second launch on, they do in none: each launch is the first.
    "remembers.cu": (
        _kernel(
            f"bool known = atomicAdd(&calls, 1) >= gridDim.x * blockDim.x;"
            f"{_LOOP} out[i] = known ? kept[i % 4096] : (kept[i % 4096] = x[i] + y[i]);",
            "__device__ float kept[4096]; __device__ int calls;\n",
        ),
        ("accepted",),
    ),
    "times_only_small.cu": (  # no time is known of what calls malloc
        _kernel(f"if (n > 100) free(malloc(8)); {_LOOP} out[i] = x[i] + y[i];"),
        ("accepted", "budget"),
    ),
    "rests.cu": (
        _kernel(
            f"{_INDEX} if (atomicAdd(&calls, 1) >= gridDim.x * blockDim.x) return; "
            f"for (; i < n; i += gridDim.x * blockDim.x) out[i] = x[i] + y[i];",
            "__device__ int calls;\n",
        ),
        ("accepted",),
    ),
    "hoards_heap.cu": (
        _kernel(f"for (int k = 0; k < 100000 && malloc(1 << 12); ++k); {_LOOP} out[i] = x[i] + y[i];"),
        ("accepted", "timeout", "fault"),
    ),
    "needs_heap.cu": (
        _kernel(
            f"float *p = (float *)malloc(64); if (!p) return; {_LOOP} {{ *p = x[i]; out[i] = *p + y[i]; }}"
            "free(p);"
        ),
        ("accepted", "budget"),
    ),
    "searches.cu": (
        _kernel(
            f"{_LOOP} {{ int k = 1; while (out[k * n + i] != x[i] + y[i]) ++k; out[i] = out[k * n + i]; }}"
        ),
        ("fault",),
    ),
    "left_over.cu": (
        _kernel(f"extern __shared__ float left[]; __shared__ float s[256]; {_LOOP} out[i] = s[threadIdx.x];"),
        ("wrong",),
    ),
    "uninitialised.cu": (_kernel(f"float a[64]; {_LOOP} out[i] = a[(i * 7) % 64];"), ("wrong", "unwritten")),
    "sleeps.cu": (
        _kernel(f"while (true) __nanosleep(1000000000); {_LOOP} out[i] = x[i] + y[i];"),
        ("timeout",),
    ),
    "zeroes_all.cu": (
        _kernel(f"{_LOOP} const_cast<float *>(x)[i] = const_cast<float *>(y)[i] = out[i] = 0;"),
        ("changed-input",),
    ),
    "aliases.cu": (_kernel(f"{_LOOP} const_cast<float *>(x)[i] += y[i];"), ("changed-input",)),
    "nan.cu": (_kernel(f"{_LOOP} out[i] = __int_as_float(0x7fffffff);"), ("wrong",)),
    "infinity.cu": (_kernel(f"{_LOOP} out[i] = __int_as_float(0x7f800000);"), ("wrong",)),
    "tells_by_poison.cu": (
        _kernel(f"{_LOOP} out[i] = __float_as_int(out[i]) == 0xa5a5a5a5 ? x[i] + y[i] : 0;"),
        ("accepted", "budget"),
    ),
    "only_public.cu": (_kernel(f"if (n > 100) return; {_LOOP} out[i] = x[i] + y[i];"), ("unwritten",)),
    "races_the_clock.cu": (
        _kernel(
            f"long long t = clock64(); while (clock64() - t < (1ll << 50)); {_LOOP} out[i] = x[i] + y[i];"
        ),
        ("timeout", "accepted"),
    ),
    "file_in_asm.cu": (
        _kernel('asm(".loc 9 1 1;"); out[0] = x[0];', 'asm(".file 9 \\"/dev/zero\\"");\n'),
        ("wrong", "compile-error"),
    ),
    "endless_file.ptx": (
        _ptx(
            "mov.u32 %r12, %tid.x; mul.wide.u32 %rd9, %r12, 0; mov.u64 %rd10, s; add.u64 %rd9, %rd9, %rd10;\n"
            ".loc 1 3 1\nst.shared.u32 [%rd9], %r12;",
            '.file 1 "/dev/zero"\n.shared .align 4 .b32 s[4];\n',
        ),
        ("defect",),
    ),
    "counts.ptx": (
        _ptx(
            "atom.global.add.u32 %r9, [calls], 1; setp.ge.u32 %p2, %r9, 512; @%p2 ret;",
            ".global .u32 calls;\n",
        ),
        ("accepted", "defect", "unwritten"),
    ),
    "plain.ptx": (_ptx(""), ("accepted",)),
    "absolute.ptx": (_ptx("mov.u64 %rd9, 4096; ld.global.f32 %f9, [%rd9];"), ("fault",)),
    "library.ptx": (
        _ptx("call.uni cublasSaxpy, ();", ".extern .func cublasSaxpy\n();\n"),
        ("library",),
    ),
    "sleeps.ptx": (_ptx("$again: nanosleep.u32 1000000000; bra $again;"), ("timeout",)),
    "huge.ptx": (
        _ptx("", ".global .align 4 .b8 big[4398046511104];\n"),
        ("compile-error", "launch", "accepted"),
    ),
    "many_registers.ptx": (_ptx(".reg .b64 %q<100000000>;"), ("accepted", "compile-error", "compile-limit")),
    "spins.ptx": (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 x, .param .u64 y, "
        ".param .u64 o, .param .u32 n) { $again: bra $again; }\n",
        ("timeout",),
    ),
    "broken.ptx": (".version 8.0\n.target sm_80\n.visible .entry add( {", ("compile-error", "no-kernel")),
}
PYTHON: dict[str, tuple[str, tuple[str, ...]]] = {
    "good.py": (_PYTHON, ("accepted",)),
    "runs_program.py": (_python("import os\nos.system('touch /tmp/warpglass-was-here')"), ("forbidden",)),
    "writes.py": (
        _python("try:\n    open('/tmp/warpglass-was-here', 'w').write('x')\nexcept OSError:\n    pass"),
        ("forbidden",),
    ),
    "reads.py": (_python("print(open('/etc/passwd').read())"), ("forbidden",)),
    "forks.py": (_python("import os\ntry:\n    os.fork()\nexcept OSError:\n    pass"), ("forbidden",)),
    "connects.py": (_python("import socket\nsocket.create_connection(('127.0.0.1', 22), 1)"), ("forbidden",)),
    "kills.py": (_python("import os\nos.kill(os.getppid(), 9)"), ("forbidden",)),
    "native.py": (_python("import ctypes\nctypes.CDLL(None).getpid()"), ("forbidden",)),
    "library.py": (_python("import scipy.linalg"), ("library",)),
    "masks_signals.py": (
        _python(
            "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\ntime.sleep(9e9)"
        ),
        ("compile-limit",),
    ),
    "closes_all.py": (
        _python(
            "import os\nfor k in range(3, 256):\n"
            "    try:\n        os.close(k)\n    except OSError:\n        pass"
        ),
        ("compile-limit", "compile-error"),
    ),
    "exits.py": (_python("raise SystemExit"), ("compile-error",)),
    "ends.py": (_python("import os\nos._exit(0)"), ("compile-limit",)),
    "loops.py": (_python("while True:\n    pass"), ("compile-limit",)),
    "hoards.py": (_python("x = []\nwhile True:\n    x.append(bytearray(1 << 28))"), ("compile-limit",)),
    "shouts.py": (_python("while True:\n    print('spam' * 1000)"), ("flood",)),
    "patches_numpy.py": (
        _WRONG + "\nimport numpy\nnumpy.isclose = numpy.allclose = lambda *a, **k: numpy.True_\n",
        ("wrong",),
    ),
    "patches_modules.py": (
        _WRONG + "\nimport sys\nfor name, one in list(sys.modules.items()):\n"
        "    if name.startswith(('warpglass.judging', 'warpglass.sweeps')):\n"
        "        one.difference = one.compare = lambda *a: None\n",
        ("wrong",),
    ),
    "imports_warpglass.py": (_python("import warpglass.judging.trial"), ("library",)),
    "patches_compiler.py": (
        _python("import sys\nsource = sys.modules['warpglass.source']\nsource.load = None"),
        ("accepted", "compile-error"),
    ),
    "answers_itself.py": (
        _python(
            "import sys\nframe = sys._getframe()\nwhile frame:\n    frame.f_locals.get('request', {}).update("
            "kernel='other')\n    frame = frame.f_back"
        ),
        ("accepted", "no-kernel", "compile-error"),
    ),
    "makes_folder.py": (_python("import os\nos.mkdir('here')"), ("forbidden",)),
    "replaces_itself.py": (_python("import os\nos.execv('/bin/sh', ['sh'])"), ("forbidden",)),
    "reads_neighbours.py": (_python("open('/proc/1/environ', 'rb').read()"), ("forbidden",)),
    "searches_memory.py": (
        _WRONG + "\nimport gc, numpy\n"
        "ARRAYS = [one for one in gc.get_objects() if isinstance(one, numpy.ndarray)]\n",
        ("wrong",),
    ),
    "threads.py": (
        _python(
            "import threading\ndef spin():\n    while True:\n        pass\n"
            "[threading.Thread(target=spin, daemon=True).start() for _ in range(4)]"
        ),
        ("accepted", "compile-limit"),
    ),
    "at_exit.py": (
        _python("import atexit, os\natexit.register(os.system, 'touch /tmp/warpglass-was-here')"),
        ("accepted",),
    ),
    "nests.py": (
        _python(
            "import os\nfor k in range(3, 64):\n    try:\n        os.write(k, b'[' * 200000 + b'\\n')\n"
            "    except OSError:\n        pass"
        ),
        ("accepted",),
    ),
    "lies_of_types.py": (
        _python(
            "import os, json\nfake = {'name': 1, 'ptx': 7, 'entry': [], 'language': None, 'arguments': None,"
            " 'warnings': []}\nline = json.dumps({'compiled': json.dumps(fake)}).encode() + b'\\n'\n"
            "for k in range(3, 64):\n    try:\n        os.write(k, line)\n    except OSError:\n        pass\n"
            "os._exit(0)"
        ),
        ("compile-error",),
    ),
    "lies.py": (
        _python(
            'import os\nfor k in range(3, 64):\n    try:\n        os.write(k, b\'{"compiled": "{}"}\\n\')\n'
            "    except OSError:\n        pass\nos._exit(0)"
        ),
        ("compile-error",),
    ),
}
