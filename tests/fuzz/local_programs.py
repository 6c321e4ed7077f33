"""Random CUDA C++ whose diverging lanes keep arrays of their own: `attempt(number)` is what watched.py tries.

As divergent_programs.py, with local arrays of several widths, which loops search, sort and use as stacks.
In every other program loops store to no memory but that. Now and then an index leaves its array.
"""

from __future__ import annotations

from tests.engines import CPU_ENGINES

from .divergent_programs import HEAD, TAIL, Writer, ending, short

_ARRAYS = {
    "ints": ("int", 16),
    "shorts": ("short", 8),
    "bytes": ("unsigned char", 16),
    "longs": ("long long", 4),
}
_OWN = """
  for (int z = 0; z < 16; z++) {
    ints[z] = data[(i * 5 + z) & 1023];
    bytes[z] = z * i;
    if (z < 8) shorts[z] = data[(i + z) & 1023];
    if (z < 4) longs[z] = (long long)data[(i ^ z) & 1023] << z * 8;
  }
"""
_SUM = """
  for (int z = 0; z < 16; z++) {
    t = t * 31 + ints[z] + bytes[z] + shorts[z & 7] + (int)(longs[z & 3] >> z);
  }
"""


class _Writer(Writer):
    """Writes one program."""

    def __init__(self, number: int):
        super().__init__(number)
        self.alone = number % 2 == 0  # whether loops leave other threads' memory as it is

    def program(self) -> str:
        self._block(2, inside=False)
        arrays = "".join(f"  {type_} {name}[{size}];\n" for name, (type_, size) in _ARRAYS.items())
        return HEAD + arrays + _OWN + "\n".join(self.lines) + _SUM + TAIL

    def _number(self, depth: int = 2) -> str:
        return self._element() if depth and self.random.random() < 0.2 else super()._number(depth)

    def _element(self) -> str:
        name = self.random.choice(list(_ARRAYS))
        size = _ARRAYS[name][1]
        reach = size * (4 if self.random.random() < self.strays else 1) - 1
        return f"{name}[({super()._number(1)}) & {reach}]"

    def _statement(self, depth: int, inside: bool) -> None:
        one, kind = self.random, self.random.randrange(10)
        if kind < 3:
            self.lines.append(f"{self._element()} = {self._number()};")
        elif kind == 3:
            self._sift()
        elif not (self.alone and inside):
            super()._statement(depth, inside)
        elif kind < 6 or not depth:
            self.lines.append(f"{one.choice('abct')} = {self._number()};")
        elif kind == 6:
            self.lines.append(f"if ({self._test()}) {one.choice(['break', 'continue', 'return'])};")
        elif kind == 7:
            self._nested(f"if ({self._test()})", depth, inside)
        else:
            self._loop(depth)

    def _sift(self) -> None:
        """Move an element of the array down to its place, as an insertion sort does."""
        j = f"j{self.loops}"
        self.loops += 1
        self.lines.append(f"int {j} = ({self._number()}) & 15;")
        self.lines.append(f"while ({j} > 0 && ints[{j} - 1] > a) {{ ints[{j}] = ints[{j} - 1]; {j}--; }}")
        self.lines.append(f"ints[{j}] = a;")


def text_of(number: int) -> str:
    """A program's source."""
    return _Writer(number).program()


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault."""
    text = text_of(number)
    reference, fast = (ending(number, text, engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{short(reference)} and {short(fast)}\n{text}"
    return "fault" if isinstance(reference, str) else "agree"
