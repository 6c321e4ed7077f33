"""PTX as a tree (tree.py): parser, printer."""

from .lexer import PtxSyntaxError
from .parser import parse
from .printer import print_module

__all__ = ["PtxSyntaxError", "parse", "print_module"]
