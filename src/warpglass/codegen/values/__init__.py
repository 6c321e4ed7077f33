"""What is known of a warp's values while code is generated; nothing is emitted here.

A fact is something that holds of a value in every run: its bounds, its known low bits, the lanes' distances
from one scalar. There is one file for each kind of fact, and one row for each LLVM operation (operations.py)
that says what the operation makes of it. `results` puts the facts of a result together and says in which form
it is best computed; `lanes/` emits that form. Whoever wants facts alone runs meanings on `FactLanes`.
"""
