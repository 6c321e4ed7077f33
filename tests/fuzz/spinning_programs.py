"""Random CUDA C++ whose threads wait for each other: `attempt(number)` is what watched.py tries.

Locks, tickets, flags from thread to thread, queues, barriers of the grid made by hand and sums that look back
over earlier blocks, among loops, switches and calls by which lanes part. Results of even numbers follow from
the program alone, so both engines have the same, and the fast one on two threads, too. Threads of odd ones
store where others load and see who came first: there both engines have the same on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass import lab
from warpglass.errors import WarpglassError

from .divergent_programs import Writer

_BLOCKS = 3
_SYNC = 1024  # words that a phase of all threads has for itself
_MOST_PHASES = 4
_HEAD = """
#define LOAD(place) (*(volatile int *)&(place))
__device__ __noinline__ int locked_add(int *lock, int *sum, int more) {
  while (atomicCAS(lock, 0, 1) != 0) { }
  __threadfence();
  int before = LOAD(*sum);
  LOAD(*sum) = before + more;
  __threadfence();
  atomicExch(lock, 0);
  return before;
}
extern "C" __global__ void k(int *data, int *places, int *table, double *reals, int *out, int *sync) {
  __shared__ int own[1024], told;
  for (int s = threadIdx.x; s < 1024; s += blockDim.x) own[s] = 0;
  __syncthreads();
  int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
  int a = i * 40503 ^ data[i & 1023], b = data[(i * 7) & 1023], c = i & 15, t = lane;
  double f = reals[i & 255];
"""
_TAIL = """
  out[i] = a ^ b * 31 ^ c * 1009 ^ t ^ __double2hiint(f);
}
"""


class _Spinner(Writer):
    """Writes one program; `free` ones have results that no schedule changes."""

    def __init__(self, number: int):
        super().__init__(number)
        self.free = number % 2 == 0
        self.strays = 0.0
        self.words = 0
        self.phases = 0
        self.looping = 0

    def program(self) -> str:
        phases = (self._chain, self._chain, self._look_back, self._wide_look_back, self._queue, self._grid)
        for _ in range(self.random.randrange(2, _MOST_PHASES + 1)):
            if self.random.random() < 0.5:
                self._statement(2, inside=False)
            else:
                self.phases += 1
                self.random.choice(phases)(self.phases, f"(sync + {_SYNC * self.phases})")
        return _HEAD + "\n".join(self.lines) + _TAIL

    def _statement(self, depth: int, inside: bool) -> None:
        one, name = self.random, self.random.choice("abct")
        kind = one.randrange(11) if depth else one.randrange(7)
        if kind == 0:
            self.lines.append(f"{name} = {self._number()};")
        elif kind == 1:
            self.lines.append(f"f = f * {one.uniform(0.5, 1.5):.3f} + reals[({self._number()}) & 255];")
        elif kind == 2 and inside:
            self.lines.append(f"if ({self._test()} && ({self._test()})) {one.choice(['break', 'continue'])};")
        elif kind == 3 and not self.free:
            one.choice((self._store, lambda: self._atomic(name)))()
        elif kind < 7:
            found = [self._lock, self._lock_once, self._exchange, self._ticket, self._call]
            one.choice(found if self.looping else [*found, self._search])()
        elif kind == 7:
            self._switch(depth)
        elif kind == 8:
            self._nested(f"if ({self._test()})", depth, inside)
            if one.random() < 0.5:
                self._nested("else", depth, inside)
        else:
            self._repeated(depth)

    def _block(self, depth: int, *, inside: bool) -> None:
        for _ in range(self.random.randrange(1, 3)):
            self._statement(depth, inside)

    def _switch(self, depth: int) -> None:
        self.lines.append(f"switch (({self._number()}) & 3) {{")
        for case in range(self.random.randrange(2, 5)):
            self._nested(f"case {case}:", depth, inside=False)
            if self.random.random() < 0.8:
                self.lines.append("break;")
        self.lines.append("}")

    def _repeated(self, depth: int) -> None:
        """A loop of few rounds: there may be locks in it."""
        self.loops += 1
        k, bound = f"k{self.loops}", f"(({self._number()}) & {self.random.choice([1, 3])})"
        self.looping += 1
        self.lines.append("#pragma unroll 1")
        self._nested(f"for (int {k} = 0, e = {bound}; {k} < e; {k}++)", depth, inside=True)
        self.looping -= 1

    # ------------------------------------------------------------------------------------ any lanes
    def _place(self) -> tuple[str, str, str]:
        """Two words that nobody else knows, of the block or of the grid, and a name."""
        self.words += 1
        array = "own" if self.random.random() < 0.4 else "sync"
        return f"{array}[{2 * self.words}]", f"{array}[{2 * self.words + 1}]", f"v{self.words}"

    def _changed(self, before: str) -> str:
        """What becomes of a word: if it tells nobody who came first, changes may come in any order."""
        return f"{before} {'+' if self.free else '* 3 +'} ({self._number(1)})"

    def _tell(self, before: str) -> str:
        return "" if self.free else f"t += {before};"

    def _critical(self, lock: str, word: str, name: str) -> str:
        return f"""__threadfence(); int {name} = LOAD({word}); LOAD({word}) = {self._changed(name)};
__threadfence(); atomicExch(&{lock}, 0); {self._tell(name)}"""

    def _lock(self) -> None:
        lock, word, name = self._place()
        self.lines.append(f"while (atomicCAS(&{lock}, 0, 1) != 0) {{ }}")
        self.lines.append(self._critical(lock, word, name))

    def _lock_once(self) -> None:
        lock, word, name = self._place()
        self.lines.append(f"for (bool done = false; !done;) if (atomicCAS(&{lock}, 0, 1) == 0) {{")
        self.lines.append(f"{self._critical(lock, word, name)} done = true; }}")

    def _exchange(self) -> None:
        _, word, name = self._place()
        seen = f"seen_{name}"
        self.lines.append(f"""int {name} = LOAD({word}), {seen};
do {{ {seen} = {name}; {name} = atomicCAS(&{word}, {seen}, {self._changed(seen)}); }}
while ({name} != {seen});
{self._tell(seen)}""")

    def _ticket(self) -> None:
        ticket, serving, name = self._place()
        self.lines.append(f"""int {name} = atomicAdd(&{ticket}, 1);
while (LOAD({serving}) != {name}) {{ }}
__threadfence(); {self._tell(name)} LOAD({serving}) = {name} + 1;""")

    def _call(self) -> None:
        lock, word, name = self._place()
        self.lines.append(f"int {name} = locked_add(&{lock}, &{word}, {self._number(1)}); {self._tell(name)}")

    def _search(self) -> None:
        _, _, name = self._place()
        self.lines.append(f"int {name} = ({self._number()}) & 4095;")
        self.lines.append(f"while (atomicCAS(&table[{name}], 0, i + 1) != 0) {name} = ({name} + 1) & 4095;")
        self.lines.append(self._tell(name))

    # ------------------------------------------------------------------------------------ all threads
    def _chain(self, at: int, words: str) -> None:
        """Chosen threads in their order, each after the one before: of a block, or of the grid."""
        one = self.random
        factor, bits = one.randrange(1, 64, 2), one.choice([0, 1, 3, 7, 31])
        chosen = f"(((%s) * {factor}) & {bits}) == {one.randrange(bits + 1)}"
        first = one.choice(["0", "(int)(blockIdx.x * blockDim.x)"])
        pause = one.choice(["", "", "__nanosleep(20);"])
        self.lines.append(f"""#pragma unroll 1
for (int round = 1; round <= {one.randrange(1, 3)}; round++) if ({chosen % "i"}) {{
int j = i - 1, found = 7;
while (j >= {first} && !({chosen % "j"})) j--;
if (j >= {first}) {{
while (LOAD({words}[j]) < round) {{ {pause} }}
__threadfence(); found = LOAD({words}[512 + j]); }}
LOAD({words}[512 + i]) = found * 31 + i; __threadfence(); LOAD({words}[i]) = round;
t ^= found; }}""")

    def _look_back(self, at: int, words: str) -> None:
        """A thread of each block adds up what earlier blocks have."""
        self.lines.append(f"""if (threadIdx.x == {self.random.choice([0, 5, 31])}) {{
int sum = 0, mine = data[blockIdx.x * 3 + {at}], state;
LOAD({words}[256 + blockIdx.x]) = mine; __threadfence(); LOAD({words}[blockIdx.x]) = 1;
for (int k = (int)blockIdx.x - 1; k >= 0; k--) {{
do state = LOAD({words}[k]); while (state == 0);
__threadfence();
if (state == 2) {{ sum += LOAD({words}[512 + k]); break; }}
sum += LOAD({words}[256 + k]); }}
LOAD({words}[512 + blockIdx.x]) = sum + mine; __threadfence(); LOAD({words}[blockIdx.x]) = 2;
told = sum; }}
__syncthreads(); t += told; __syncthreads();""")

    def _wide_look_back(self, at: int, words: str) -> None:
        """The same by a warp, a block for each lane."""
        self.lines.append(f"""if (threadIdx.x < 32) {{
int k = (int)blockIdx.x - 1 - lane, mine = data[blockIdx.x * 5 + {at}], state;
if (lane == 0) {{ LOAD({words}[256 + blockIdx.x]) = mine; __threadfence(); LOAD({words}[blockIdx.x]) = 1; }}
do {{ state = k >= 0 ? LOAD({words}[k]) : 1; }} while (__any_sync(~0u, state == 0));
__threadfence();
int sum = k >= 0 ? LOAD({words}[256 + k]) : 0;
for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
if (lane == 0) told = sum; }}
__syncthreads(); t ^= told * {self.random.randrange(1, 9)}; __syncthreads();""")

    def _queue(self, at: int, words: str) -> None:
        """A thread hands numbers to another, of its warp or not, by a ring of few places."""
        one = self.random
        taker, size, count = one.choice([1, 7, 33]), one.choice([1, 2, 4]), one.randrange(1, 40)
        ring = f"{words}[blockIdx.x * 64 + %s]"
        head, tail, place = ring % "0", ring % "1", ring % f"(2 + q % {size})"
        self.lines.append(f"""if (threadIdx.x == 0) for (int q = 0; q < {count}; q++) {{
while (q - LOAD({tail}) >= {size}) {{ }}
LOAD({place}) = data[q] ^ a; __threadfence(); LOAD({head}) = q + 1; }}
else if (threadIdx.x == min({taker}, (int)blockDim.x - 1)) for (int q = 0; q < {count}; q++) {{
while (LOAD({head}) <= q) {{ }}
__threadfence(); t = t * 5 + LOAD({place}) + {at}; __threadfence(); LOAD({tail}) = q + 1; }}""")

    def _grid(self, at: int, words: str) -> None:
        """All blocks come to a barrier made by hand, then each thread reads what another has written."""
        self.lines.append(f"""LOAD({words}[512 + i]) = a + {at};
__syncthreads();
if (threadIdx.x == 0) {{
__threadfence(); atomicAdd({words}, 1); while (LOAD({words}[0]) < (int)gridDim.x) {{ }} }}
__syncthreads();
t += LOAD({words}[512 + (i + {self.random.randrange(300)}) % (gridDim.x * blockDim.x)]);""")


def text_of(number: int) -> str:
    """A program's source."""
    return _Spinner(number).program()


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes."""
    text, free = text_of(number), number % 2 == 0
    reference, fast = (_ending(number, text, engine, 1) for engine in CPU_ENGINES)
    assert reference == fast, f"the engines differ\n{text}"
    if free:
        assert reference == _ending(number, text, CPU_ENGINES[1], 2), f"two threads differ from one\n{text}"
    return "free" if free else "in order"


def problem(number: int, text: str) -> str | None:
    """How a changed text of a program fails on one thread; None if it does not."""
    try:
        reference, fast = (_ending(number, text, engine, 1) for engine in CPU_ENGINES)
    except WarpglassError:
        lab.reset("cpu")
        return None
    return "differs" if reference != fast else None


def _ending(number: int, text: str, engine: str, threads: int) -> list[bytes]:
    with engine_mode(engine), worker_threads(threads):
        return outcome(number, compiled(text))


def compiled(text: str) -> wg.Kernel:
    """The kernel of a program's text."""
    return wg.compile(text, "k", language="cuda")


def outcome(number: int, kernel: wg.Kernel) -> list[bytes]:
    """What a program leaves in its arrays."""
    rng = np.random.default_rng(number)
    block = (32, 64, 96, 40)[number // 2 % 4]
    args: list[Any] = [
        rng.integers(0, 1 << 30, 1024, np.int32),
        rng.integers(-100, 100, 64, np.int32),
        np.zeros(4096, np.int32),
        rng.normal(size=256),
        np.zeros(_BLOCKS * block, np.int32),
        np.zeros(_SYNC * (_MOST_PHASES + 1), np.int32),
    ]
    wg.run(kernel, _BLOCKS, block, args, device="cpu", timeout=20)
    if number % 2 == 0:
        args[2].sort()  # which key has which place of the table follows from who came first
    return [one.tobytes() for one in args]
