"""The second names of the driver's functions: cuda.h lets `cuMemAlloc` in a program mean `cuMemAlloc_v2`.

Programs that look functions up by themselves, such as CuPy, ask for these names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

# The functions whose newest version is the second; ours are of the newest.
_SECOND = (
    "Array3DCreate Array3DGetDescriptor ArrayCreate ArrayGetDescriptor CtxDestroy CtxPopCurrent "
    "CtxPushCurrent DeviceGetUuid DevicePrimaryCtxRelease DevicePrimaryCtxReset DevicePrimaryCtxSetFlags "
    "DeviceTotalMem EventDestroy EventElapsedTime GetProcAddress GraphAddDependencies GraphAddKernelNode "
    "GraphExecKernelNodeSetParams GraphExecUpdate GraphGetEdges GraphKernelNodeGetParams "
    "GraphKernelNodeSetParams GraphNodeGetDependencies GraphNodeGetDependentNodes GraphRemoveDependencies "
    "IpcOpenMemHandle LinkAddData LinkAddFile LinkCreate MemAdvise MemAlloc MemAllocHost MemAllocPitch "
    "MemFree MemGetAddressRange MemGetInfo MemHostGetDevicePointer MemHostRegister MemPrefetchAsync "
    "Memcpy2D Memcpy2DAsync Memcpy2DUnaligned Memcpy3D Memcpy3DAsync MemcpyAtoA MemcpyAtoD MemcpyAtoH "
    "MemcpyAtoHAsync MemcpyDtoA MemcpyDtoD MemcpyDtoDAsync MemcpyDtoH MemcpyDtoHAsync MemcpyHtoA "
    "MemcpyHtoAAsync MemcpyHtoD MemcpyHtoDAsync MemsetD16 MemsetD2D16 MemsetD2D32 MemsetD2D8 MemsetD32 "
    "MemsetD8 ModuleGetGlobal StreamBeginCapture StreamDestroy StreamUpdateCaptureDependencies"
)
# Functions whose newest version is another one.
_LATER = {"cuCtxCreate": "cuCtxCreate_v4", "cuStreamGetCaptureInfo": "cuStreamGetCaptureInfo_v3"}


def with_versions(functions: Mapping[str, T]) -> dict[str, T]:
    """Functions by their names, and by those with a version, too."""
    second = {f"cu{name}": f"cu{name}_v2" for name in _SECOND.split()}
    more = {new: functions[name] for name, new in (second | _LATER).items() if name in functions}
    return {**more, **functions}
