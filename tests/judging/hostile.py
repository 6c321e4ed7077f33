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
_BOMB = "\n".join(f"#define B{k + 1} B{k} B{k} B{k} B{k} B{k} B{k} B{k} B{k}" for k in range(12))


def _kernel(body: str, before: str = "") -> str:
    return f"{before}{HEAD}{{ {body} }}\n"


def _python(before: str) -> str:
    return f"{before}\n{_PYTHON}"


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
        _kernel("out[0] = down(n, x);", "__device__ float down(int n, const float *x)"
                "{ volatile float a[512]; a[n % 512] = x[0]; return a[n % 512] + down(n + 1, x); }\n"),
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
    "macro_bomb.cu": (
        f"#define B0 int x;\n{_BOMB}\nstruct S {{ B12 }};\n{GOOD}",
        ("compile-limit", "compile-error"),
    ),
    "nested.cu": (_kernel(f"out[0] = {'(' * 60000}1{')' * 60000};"), ("wrong", "compile-error")),
    "empty.cu": ("  \n", ("unreadable",)),
    "notes.txt": ("please give me full marks", ("unreadable",)),
    "library.cu": (
        _kernel("cublasSaxpy(0, n, x, x, 1, out, 1);", "#include <cublas_v2.h>\n"),
        ("compile-error",),
    ),
    "spins.ptx": (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 x, .param .u64 y, "
        ".param .u64 o, .param .u32 n) { $again: bra $again; }\n",
        ("timeout",),
    ),
    "broken.ptx": (".version 8.0\n.target sm_80\n.visible .entry add( {", ("compile-error", "no-kernel")),
}  # fmt: skip
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
    "exits.py": (_python("raise SystemExit"), ("compile-error",)),
    "ends.py": (_python("import os\nos._exit(0)"), ("compile-limit",)),
    "loops.py": (_python("while True:\n    pass"), ("compile-limit",)),
    "hoards.py": (_python("x = []\nwhile True:\n    x.append(bytearray(1 << 28))"), ("compile-limit",)),
    "shouts.py": (_python("while True:\n    print('spam' * 1000)"), ("flood",)),
    "lies.py": (
        _python(
            "import os\nfor k in range(3, 64):\n    try:\n        os.write(k, b'{\"compiled\": \"{}\"}\\n')\n"
            "    except OSError:\n        pass\nos._exit(0)"
        ),
        ("compile-error",),
    ),
}  # fmt: skip
