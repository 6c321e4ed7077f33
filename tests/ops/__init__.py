"""Tests of warpglass.ops."""
