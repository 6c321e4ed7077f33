"""Tests in generated code, which nearly all accesses pass; what does not goes to native functions."""
