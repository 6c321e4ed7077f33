"""PTX as a tree (tree.py): parser, printer."""

from .lexer import PtxSyntaxError
from .parser import parse, parse_authored
from .printer import print_module

__all__ = ["PtxSyntaxError", "parse", "parse_authored", "print_module"]
