// The layout of packed matrices, and the element types that tensor cores take: see packed.cu.
#pragma once

constexpr unsigned UNIT_ROWS = 64, UNIT_BYTES = 8192;

struct Tf32 {};
struct Bf16 {};
struct F16 {};
