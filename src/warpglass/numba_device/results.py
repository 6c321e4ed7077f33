"""How a function of the CUDA driver API ends: its status, and why it refuses."""

from __future__ import annotations

from enum import IntEnum


class Result(IntEnum):
    """CUresult, as far as it is used here."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    PEER_ACCESS_UNSUPPORTED = 217
    INVALID_PTX = 218
    FILE_NOT_FOUND = 301
    INVALID_HANDLE = 400
    ILLEGAL_STATE = 401
    NOT_FOUND = 500
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    PEER_ACCESS_NOT_ENABLED = 705
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    HOST_MEMORY_ALREADY_REGISTERED = 712
    HOST_MEMORY_NOT_REGISTERED = 713
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801
    INVALID_CLUSTER_SIZE = 912
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    GRAPH_EXEC_UPDATE_FAILURE = 910
    UNKNOWN = 999


class Refusal(Exception):
    """A call that fails: its status, and why if that is more than the status says."""

    def __init__(self, result: IntEnum, text: str = ""):
        self.result = result
        super().__init__(text or result.name)
        self.text = text
