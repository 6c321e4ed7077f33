// Tiles of words that hold one, two or four elements, stored where b has boundaries of 32 bytes: see word_tile.py.

// Elements of so many bytes travel as whole numbers; a tile has SIDE of them in a row.
template <int BYTES> struct Elements;
template <> struct Elements<1> { using Element = unsigned char; using Word = unsigned int; static constexpr int SIDE = 128; };
template <> struct Elements<2> { using Element = unsigned short; using Word = unsigned int; static constexpr int SIDE = 64; };
template <> struct Elements<4> { using Element = unsigned int; using Word = unsigned int; static constexpr int SIDE = 64; };
template <> struct Elements<8> { using Element = unsigned long long; using Word = unsigned long long; static constexpr int SIDE = 32; };

constexpr int WARPS = 8, SECTOR = 32;  // of a block; bytes

template <int BYTES>
struct Tile : Elements<BYTES> {
    using typename Elements<BYTES>::Word;
    using Elements<BYTES>::SIDE;
    static constexpr int COUNT = sizeof(Word) / BYTES;         // elements of a word
    static constexpr int MARGIN = SECTOR / BYTES;              // rows above the tile, for rows of b that begin there
    static constexpr int WORDS = SIDE / COUNT;                 // of a row
    static constexpr int GROUPS = (SIDE + MARGIN) / COUNT;     // words of a column of a, margin included
    static constexpr int PITCH = (GROUPS + 31) / 32 * 32;      // whole warps of words, which lanes permute
    using Held = Word (*)[PITCH];
};

// A square of COUNT x COUNT elements, a word for each row, turns around.
__device__ __forceinline__ void turn(unsigned long long (&)[1]) {}
__device__ __forceinline__ void turn(unsigned int (&)[1]) {}
__device__ __forceinline__ void turn(unsigned int (&square)[2])
{
    const unsigned int above = square[0], below = square[1];
    square[0] = __byte_perm(above, below, 0x5410);
    square[1] = __byte_perm(above, below, 0x7632);
}
__device__ __forceinline__ void turn(unsigned int (&square)[4])
{
    const unsigned int even = __byte_perm(square[0], square[1], 0x6240), odd = __byte_perm(square[0], square[1], 0x7351);
    const unsigned int even2 = __byte_perm(square[2], square[3], 0x6240), odd2 = __byte_perm(square[2], square[3], 0x7351);
    square[0] = __byte_perm(even, even2, 0x5410);
    square[1] = __byte_perm(odd, odd2, 0x5410);
    square[2] = __byte_perm(even, even2, 0x7632);
    square[3] = __byte_perm(odd, odd2, 0x7632);
}

// Elements `skew` to `skew` + COUNT - 1 of two words that follow one another.
__device__ __forceinline__ unsigned long long join(unsigned long long low, unsigned long long, int) { return low; }
__device__ __forceinline__ unsigned int join(unsigned int low, unsigned int high, int bits)
{
    return __funnelshift_r(low, high, bits);
}

template <int BYTES, bool WHOLE>
struct Transpose {
    using Sizes = Tile<BYTES>;
    using Element = typename Sizes::Element;
    using Word = typename Sizes::Word;
    static constexpr int COUNT = Sizes::COUNT, SIDE = Sizes::SIDE, MARGIN = Sizes::MARGIN, WORDS = Sizes::WORDS;
    const long long rows, columns, top, left;  // of a; of the tile in a

    // The elements of a row of a from `column` on; those that are not there count as 0.
    __device__ __forceinline__ Word load(const Element *row, long long column) const
    {
        if (WHOLE) {
            const int skew = reinterpret_cast<size_t>(row + column) % sizeof(Word);
            const Word *at = reinterpret_cast<const Word *>(reinterpret_cast<const unsigned char *>(row + column) - skew);
            return skew ? join(at[0], at[1], 8 * skew) : at[0];
        }
        Word word = 0;
        for (int k = 0; k < COUNT; ++k)
            if (column + k < columns) word |= static_cast<Word>(row[column + k]) << 8 * BYTES * k;
        return word;
    }

    // Columns of a become rows of the tile. Lanes' words lie in one column of words, which the exclusive or spreads
    // over all banks.
    __device__ __forceinline__ void fetch(const Element *a, typename Sizes::Held held, bool margin) const
    {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int g = 0; g < Sizes::GROUPS; g += WARPS) {
            const int group = g + threadIdx.x / 32;
            if (group >= Sizes::GROUPS || (group < MARGIN / COUNT && !margin)) continue;
#pragma unroll
            for (int word = lane; word < WORDS; word += 32) {
                Word square[COUNT];
#pragma unroll
                for (int k = 0; k < COUNT; ++k) {
                    const long long row = top - MARGIN + group * COUNT + k;
                    square[k] = WHOLE || (row >= 0 && row < rows) ? load(a + row * columns, left + word * COUNT) : 0;
                }
                turn(square);
#pragma unroll
                for (int k = 0; k < COUNT; ++k) held[word * COUNT + k][group ^ lane] = square[k];
            }
        }
    }

    // Rows of the tile go to b, each from the last boundary at or before the tile's first element on.
    __device__ __forceinline__ void store(Element *b, typename Sizes::Held held) const
    {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int r = 0; r < SIDE; r += WARPS) {
            const int row = r + threadIdx.x / 32, swap = row / COUNT % 32;
            if (!WHOLE && left + row >= columns) break;
            Element *target = b + (left + row) * rows;
            const int skew = reinterpret_cast<size_t>(target + top) % SECTOR / BYTES;
            const int from = MARGIN - skew, odd = from % COUNT;
#pragma unroll
            for (int word = lane; word < WORDS; word += 32) {
                const int at = from / COUNT + word;
                Word value = held[row][at ^ swap];
                if (odd) value = join(value, held[row][(at + 1) ^ swap], 8 * BYTES * odd);
                const long long column = top - skew + word * COUNT;
                if (WHOLE)
                    *reinterpret_cast<Word *>(target + column) = value;
                else
                    for (int k = 0; k < COUNT; ++k)
                        if (column + k >= 0 && column + k < rows) target[column + k] = value >> 8 * BYTES * k;
            }
        }
    }
};

template <typename T>
__global__ __launch_bounds__(32 * WARPS) void word_tile(const T *a, T *b, long long rows, long long columns)
{
    constexpr int BYTES = sizeof(T);
    using Sizes = Tile<BYTES>;
    using Element = typename Sizes::Element;
    constexpr int SIDE = Sizes::SIDE, MARGIN = Sizes::MARGIN;
    __shared__ typename Sizes::Word held[SIDE][Sizes::PITCH];
    const Element *from = reinterpret_cast<const Element *>(a);
    Element *to = reinterpret_cast<Element *>(b);
    const unsigned int down = (rows + MARGIN - 2) / SIDE + 1;  // b's last boundary may lie so far before its end
    const long long top = static_cast<long long>(blockIdx.x % down) * SIDE, left = static_cast<long long>(blockIdx.x / down) * SIDE;
    // Rows of b begin where sectors do, rows of a where words do, or else a tile needs more than its own elements.
    const bool margin = (rows * BYTES | reinterpret_cast<size_t>(b)) % SECTOR != 0;
    const int above = margin ? MARGIN : 0;
    const int beside = (columns * BYTES | reinterpret_cast<size_t>(a)) % sizeof(typename Sizes::Word) ? Sizes::COUNT : 0;
    if (top >= above && top + SIDE <= rows && left >= beside && left + SIDE + beside <= columns) {
        const Transpose<BYTES, true> tile{rows, columns, top, left};
        tile.fetch(from, held, margin);
        __syncthreads();
        tile.store(to, held);
    } else {
        const Transpose<BYTES, false> tile{rows, columns, top, left};
        tile.fetch(from, held, margin);
        __syncthreads();
        tile.store(to, held);
    }
}
