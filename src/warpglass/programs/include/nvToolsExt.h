/* NVTX without a tool that listens: marks and ranges are taken and forgotten. */
#ifndef WARPGLASS_NV_TOOLS_EXT_H
#define WARPGLASS_NV_TOOLS_EXT_H
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING (-2)

typedef enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef union {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#ifdef __GNUC__
#define WARPGLASS_IGNORED static inline __attribute__((unused))
#else
#define WARPGLASS_IGNORED static inline
#endif
WARPGLASS_IGNORED void nvtxInitialize(const void *reserved) { (void)reserved; }
WARPGLASS_IGNORED void nvtxMarkA(const char *text) { (void)text; }
WARPGLASS_IGNORED void nvtxMarkW(const wchar_t *text) { (void)text; }
WARPGLASS_IGNORED void nvtxMarkEx(const nvtxEventAttributes_t *event) { (void)event; }
WARPGLASS_IGNORED int nvtxRangePushA(const char *text) { return (void)text, NVTX_NO_PUSH_POP_TRACKING; }
WARPGLASS_IGNORED int nvtxRangePushW(const wchar_t *text) { return (void)text, NVTX_NO_PUSH_POP_TRACKING; }
WARPGLASS_IGNORED int nvtxRangePushEx(const nvtxEventAttributes_t *event) {
    return (void)event, NVTX_NO_PUSH_POP_TRACKING;
}
WARPGLASS_IGNORED int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }
WARPGLASS_IGNORED nvtxRangeId_t nvtxRangeStartA(const char *text) { return (void)text, 0; }
WARPGLASS_IGNORED nvtxRangeId_t nvtxRangeStartW(const wchar_t *text) { return (void)text, 0; }
WARPGLASS_IGNORED nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event) { return (void)event, 0; }
WARPGLASS_IGNORED void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
WARPGLASS_IGNORED void nvtxNameOsThreadA(uint32_t thread, const char *name) { (void)thread, (void)name; }
WARPGLASS_IGNORED nvtxDomainHandle_t nvtxDomainCreateA(const char *name) { return (void)name, (nvtxDomainHandle_t)0; }
WARPGLASS_IGNORED void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
WARPGLASS_IGNORED int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    return (void)domain, (void)event, NVTX_NO_PUSH_POP_TRACKING;
}
WARPGLASS_IGNORED int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, NVTX_NO_PUSH_POP_TRACKING; }

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangePush nvtxRangePushW
#define nvtxRangeStart nvtxRangeStartW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#endif
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#endif
