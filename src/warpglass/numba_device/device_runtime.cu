// Dynamic parallelism: what kernels call to have kernels launched, memory copied and filled.
//
// A launch is noted, and made when the grid that asked for it has ended (device_launches.py): since CUDA 12 a
// kernel cannot wait for what it has launched, so it cannot tell. CAPACITY launches of ROOM bytes of
// parameters fit, and PARAMETERS is where they begin in a note; ATTRIBUTES are the device's, by their numbers.

#define DEFINED extern "C" __device__ __attribute__((used))

// NVIDIA's header declares these, and makes their names macros so that nobody else uses them.
#undef __cudaCDP2LaunchDeviceV2
#undef __cudaCDP2LaunchDeviceV2_ptsz
#undef __cudaCDP2LaunchDevice
#undef __cudaCDP2LaunchDevice_ptsz
#undef __cudaCDP2MemcpyAsync
#undef __cudaCDP2MemcpyAsync_ptsz
#undef __cudaCDP2Memcpy2DAsync
#undef __cudaCDP2Memcpy2DAsync_ptsz
#undef __cudaCDP2MemsetAsync
#undef __cudaCDP2MemsetAsync_ptsz
#undef __cudaCDP2Memset2DAsync
#undef __cudaCDP2Memset2DAsync_ptsz
#undef __cudaCDP2StreamWaitEvent
#undef __cudaCDP2StreamWaitEvent_ptsz
#undef __cudaCDP2EventRecord
#undef __cudaCDP2EventRecord_ptsz
#undef __cudaCDP2EventRecordWithFlags
#undef __cudaCDP2EventRecordWithFlags_ptsz
#undef __cudaCDP2GetParameterBuffer
#undef __cudaCDP2GetParameterBufferV2
#undef __cudaCDP2StreamCreateWithFlags
#undef __cudaCDP2StreamDestroy
#undef __cudaCDP2EventCreateWithFlags
#undef __cudaCDP2EventDestroy
#undef __cudaCDP2GetLastError
#undef __cudaCDP2PeekAtLastError
#undef __cudaCDP2GetErrorName
#undef __cudaCDP2GetErrorString
#undef __cudaCDP2Malloc
#undef __cudaCDP2Free
#undef __cudaCDP2GetDevice
#undef __cudaCDP2GetDeviceCount
#undef __cudaCDP2RuntimeGetVersion
#undef __cudaCDP2DeviceGetAttribute

enum Kind : unsigned { NOTHING, KERNEL, COPY, FILL };

struct Note {
    unsigned long long function;
    unsigned grid[3], block[3];
    unsigned shared;
    Kind kind;
    unsigned long long stream;
    alignas(PARAMETERS) unsigned char parameters[ROOM];
};

// A copy or a fill: rows of `width` bytes.
struct Rows {
    unsigned long long target, target_pitch, source, source_pitch, width, height;
};

extern "C" {
__device__ Note warpglass_notes[CAPACITY];
__device__ unsigned warpglass_noted;
__device__ unsigned warpglass_last_error;  // of any thread
__device__ unsigned long long warpglass_objects;
}

static __device__ __forceinline__ Note *taken()
{
    const unsigned number = atomicAdd(&warpglass_noted, 1u);
    if (number < CAPACITY) return &warpglass_notes[number];
    atomicExch(&warpglass_last_error, unsigned(cudaErrorLaunchPendingCountExceeded));
    return nullptr;
}

static __device__ __forceinline__ unsigned long long address(const void *place)
{
    return reinterpret_cast<unsigned long long>(place);
}

static __device__ __forceinline__ cudaError_t rows(Kind kind, cudaStream_t stream, const Rows &what)
{
    Note *note = taken();
    if (note == nullptr) return cudaErrorLaunchPendingCountExceeded;
    *reinterpret_cast<Rows *>(note->parameters) = what;
    note->stream = reinterpret_cast<unsigned long long>(stream);
    note->kind = kind;
    return cudaSuccess;
}

template <class Handle> static __device__ __forceinline__ cudaError_t object(Handle *handle)
{
    *handle = reinterpret_cast<Handle>(0x10000 + atomicAdd(&warpglass_objects, 1ull));
    return cudaSuccess;
}

static __device__ __forceinline__ void set(Note *note, dim3 grid, dim3 block)
{
    note->grid[0] = grid.x, note->grid[1] = grid.y, note->grid[2] = grid.z;
    note->block[0] = block.x, note->block[1] = block.y, note->block[2] = block.z;
}

DEFINED void *__cudaCDP2GetParameterBuffer(size_t, size_t)
{
    Note *note = taken();
    if (note == nullptr) return nullptr;
    note->kind = NOTHING;
    return note->parameters;
}

DEFINED void *__cudaCDP2GetParameterBufferV2(void *function, dim3 grid, dim3 block, unsigned shared)
{
    Note *note = taken();
    if (note == nullptr) return nullptr;
    note->kind = NOTHING;
    note->function = reinterpret_cast<unsigned long long>(function);
    set(note, grid, block);
    note->shared = shared;
    return note->parameters;
}

static __device__ __forceinline__ cudaError_t launch(void *parameters, cudaStream_t stream)
{
    if (parameters == nullptr) return cudaErrorLaunchPendingCountExceeded;
    Note *note = reinterpret_cast<Note *>(static_cast<unsigned char *>(parameters) - PARAMETERS);
    note->stream = reinterpret_cast<unsigned long long>(stream);
    note->kind = KERNEL;
    return cudaSuccess;
}

static __device__ __forceinline__ cudaError_t launch(
    void *function, void *parameters, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream)
{
    if (parameters == nullptr) return cudaErrorLaunchPendingCountExceeded;
    Note *note = reinterpret_cast<Note *>(static_cast<unsigned char *>(parameters) - PARAMETERS);
    note->function = reinterpret_cast<unsigned long long>(function);
    set(note, grid, block);
    note->shared = shared;
    return launch(parameters, stream);
}

// Each function of a stream has a second form, for per-thread default streams.
#define OF_STREAM(name, given, body)                            \
    DEFINED cudaError_t __cudaCDP2##name given { return body; }    \
    DEFINED cudaError_t __cudaCDP2##name##_ptsz given { return body; }

OF_STREAM(LaunchDeviceV2, (void *parameters, cudaStream_t stream), launch(parameters, stream))
OF_STREAM(LaunchDevice,
          (void *function, void *parameters, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream),
          launch(function, parameters, grid, block, shared, stream))
OF_STREAM(MemcpyAsync,
          (void *target, const void *source, size_t size, cudaMemcpyKind, cudaStream_t stream),
          rows(COPY, stream, {address(target), size, address(source), size, size, 1}))
OF_STREAM(Memcpy2DAsync,
          (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height,
           cudaMemcpyKind, cudaStream_t stream),
          rows(COPY, stream, {address(target), target_pitch, address(source), source_pitch, width, height}))
OF_STREAM(MemsetAsync,
          (void *target, int value, size_t size, cudaStream_t stream),
          rows(FILL, stream, {address(target), size, unsigned(value), 0, size, 1}))
OF_STREAM(Memset2DAsync,
          (void *target, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
          rows(FILL, stream, {address(target), pitch, unsigned(value), 0, width, height}))
// Work is done in the order in which it was asked for, so what an event stands for has always happened.
OF_STREAM(StreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), cudaSuccess)
OF_STREAM(EventRecord, (cudaEvent_t, cudaStream_t), cudaSuccess)
OF_STREAM(EventRecordWithFlags, (cudaEvent_t, cudaStream_t, unsigned), cudaSuccess)

DEFINED cudaError_t __cudaCDP2StreamCreateWithFlags(cudaStream_t *stream, unsigned) { return object(stream); }
DEFINED cudaError_t __cudaCDP2StreamDestroy(cudaStream_t) { return cudaSuccess; }
DEFINED cudaError_t __cudaCDP2EventCreateWithFlags(cudaEvent_t *event, unsigned) { return object(event); }
DEFINED cudaError_t __cudaCDP2EventDestroy(cudaEvent_t) { return cudaSuccess; }
DEFINED cudaError_t __cudaCDP2GetLastError() { return cudaError_t(atomicExch(&warpglass_last_error, 0u)); }
DEFINED cudaError_t __cudaCDP2PeekAtLastError() { return cudaError_t(atomicAdd(&warpglass_last_error, 0u)); }

// The errors that these functions return. Texts have names, since modules number those that have none.
#define TEXT(name, text) static __device__ const char warpglass_text_##name[] = text
TEXT(success, "cudaSuccess");
TEXT(value, "cudaErrorInvalidValue");
TEXT(memory, "cudaErrorMemoryAllocation");
TEXT(pending, "cudaErrorLaunchPendingCountExceeded");
TEXT(none, "no error");
TEXT(argument, "invalid argument");
TEXT(out, "out of memory");
TEXT(count, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount");
TEXT(unknown, "unrecognized error code");

DEFINED const char *__cudaCDP2GetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return warpglass_text_success;
    case cudaErrorInvalidValue: return warpglass_text_value;
    case cudaErrorMemoryAllocation: return warpglass_text_memory;
    case cudaErrorLaunchPendingCountExceeded: return warpglass_text_pending;
    default: return warpglass_text_unknown;
    }
}

DEFINED const char *__cudaCDP2GetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return warpglass_text_none;
    case cudaErrorInvalidValue: return warpglass_text_argument;
    case cudaErrorMemoryAllocation: return warpglass_text_out;
    case cudaErrorLaunchPendingCountExceeded: return warpglass_text_count;
    default: return warpglass_text_unknown;
    }
}

DEFINED cudaError_t __cudaCDP2Malloc(void **place, size_t size)
{
    *place = malloc(size);
    return *place == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

DEFINED cudaError_t __cudaCDP2Free(void *place)
{
    free(place);
    return cudaSuccess;
}

DEFINED cudaError_t __cudaCDP2GetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

DEFINED cudaError_t __cudaCDP2GetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

DEFINED cudaError_t __cudaCDP2RuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

DEFINED cudaError_t __cudaCDP2DeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    constexpr int known[] = {ATTRIBUTES};
    if (attribute >= sizeof known / sizeof *known || device != 0) return cudaErrorInvalidValue;
    *value = known[attribute];
    return cudaSuccess;
}
