// Tiles of words that hold one, two or four elements, stored where b has boundaries of 32 bytes: see word_tile.py.

// Elements of so many bytes travel as whole numbers; a tile has SIDE of them in a row, a block WARPS warps.
template <int BYTES> struct Elements;
template <> struct Elements<1> {
    using Element = unsigned char;
    using Word = unsigned int;
    static constexpr int SIDE = 128, WARPS = 16;
};
template <> struct Elements<2> {
    using Element = unsigned short;
    using Word = unsigned int;
    static constexpr int SIDE = 128, WARPS = 8;
};
template <> struct Elements<4> {
    using Element = unsigned int;
    using Word = unsigned int;
    static constexpr int SIDE = 64, WARPS = 16;
};
template <> struct Elements<8> {
    using Element = unsigned long long;
    using Word = unsigned long long;
    static constexpr int SIDE = 64, WARPS = 16;
};

constexpr int SECTOR = 32;  // bytes that are stored at once

template <int BYTES>
struct Tile : Elements<BYTES> {
    using typename Elements<BYTES>::Word;
    using Elements<BYTES>::SIDE;
    using Elements<BYTES>::WARPS;
    static constexpr int COUNT = sizeof(Word) / BYTES;      // elements of a word
    static constexpr int WORDS = SIDE / COUNT;              // of a row
    static constexpr int MARGIN = SECTOR / sizeof(Word);    // words above the tile, for rows of b that begin there
    static constexpr int PITCH = WORDS + 32;                // the margin, and room for lanes to permute words
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
    unsigned int even[2], odd[2];  // columns 0 and 2 of two rows, columns 1 and 3
    for (int half = 0; half < 2; ++half) {
        even[half] = __byte_perm(square[2 * half], square[2 * half + 1], 0x6240);
        odd[half] = __byte_perm(square[2 * half], square[2 * half + 1], 0x7351);
    }
    square[0] = __byte_perm(even[0], even[1], 0x5410);
    square[1] = __byte_perm(odd[0], odd[1], 0x5410);
    square[2] = __byte_perm(even[0], even[1], 0x7632);
    square[3] = __byte_perm(odd[0], odd[1], 0x7632);
}

// The word that begins so many bytes behind the lower of two that follow one another.
__device__ __forceinline__ unsigned long long join(unsigned long long low, unsigned long long, int) { return low; }
__device__ __forceinline__ unsigned int join(unsigned int low, unsigned int high, int bytes)
{
    return __funnelshift_r(low, high, 8 * bytes);
}

// How a tile lies: words of a and sectors of b begin with its rows; they do not; it is not whole.
enum class Fit { EVEN, ODD, BROKEN };

template <int BYTES, Fit FIT>
struct Transpose {
    using Sizes = Tile<BYTES>;
    using Element = typename Sizes::Element;
    using Word = typename Sizes::Word;
    static constexpr int COUNT = Sizes::COUNT, SIDE = Sizes::SIDE, WORDS = Sizes::WORDS, MARGIN = Sizes::MARGIN;
    static constexpr int WARPS = Sizes::WARPS;
    const long long rows, columns, top, left;  // of a; of the tile in a

    // The elements of a row of a from `column` on; those that are not there count as 0.
    __device__ __forceinline__ Word load(const Element *row, long long column) const
    {
        const Element *at = row + column;
        if (FIT == Fit::EVEN || (FIT == Fit::ODD && COUNT == 1)) return *reinterpret_cast<const Word *>(at);
        if (FIT == Fit::ODD) {
            const size_t skew = reinterpret_cast<size_t>(at) % sizeof(Word);
            const Word *words = reinterpret_cast<const Word *>(reinterpret_cast<size_t>(at) - skew);
            return join(words[0], words[1], skew);
        }
        Word word = 0;
        for (int k = 0; k < COUNT; ++k)
            if (column + k < columns) word |= static_cast<Word>(at[k]) << 8 * BYTES * k;
        return word;
    }

    // COUNT rows of a, from row `top` + `down` on.
    __device__ __forceinline__ void load(const Element *a, int down, int column, Word (&square)[COUNT]) const
    {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const long long row = top + down + k;
            const bool inside = FIT != Fit::BROKEN || (row >= 0 && row < rows);
            square[k] = inside ? load(a + row * columns, left + column) : 0;
        }
    }

    // Columns of a become rows of the tile. Lanes' words would lie in one bank: the exclusive or spreads them.
    __device__ __forceinline__ void keep(Word (&square)[COUNT], int group, int word, typename Sizes::Held held) const
    {
        turn(square);
#pragma unroll
        for (int k = 0; k < COUNT; ++k) held[word * COUNT + k][group ^ word % 32] = square[k];
    }

    __device__ __forceinline__ void fetch(const Element *a, typename Sizes::Held held) const
    {
        constexpr int DOWN = WORDS / WARPS, ACROSS = WORDS / 32;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        Word squares[DOWN][ACROSS][COUNT];
#pragma unroll
        for (int i = 0; i < DOWN; ++i)
#pragma unroll
            for (int j = 0; j < ACROSS; ++j)
                load(a, (i * WARPS + warp) * COUNT, (j * 32 + lane) * COUNT, squares[i][j]);
        if (FIT != Fit::EVEN && warp < MARGIN)
#pragma unroll
            for (int word = lane; word < WORDS; word += 32) {
                Word square[COUNT];
                load(a, (warp - MARGIN) * COUNT, word * COUNT, square);
                keep(square, warp, word, held);
            }
#pragma unroll
        for (int i = 0; i < DOWN; ++i)
#pragma unroll
            for (int j = 0; j < ACROSS; ++j) keep(squares[i][j], MARGIN + i * WARPS + warp, j * 32 + lane, held);
    }

    // Rows of the tile go to b, each from the last boundary at or before the tile's first element on.
    __device__ __forceinline__ void store(Element *b, typename Sizes::Held held) const
    {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < SIDE / WARPS; ++i) {
            const int row = i * WARPS + threadIdx.x / 32, swap = row / COUNT % 32;
            if (FIT == Fit::BROKEN && left + row >= columns) break;
            Element *target = b + (left + row) * rows + top;
            const int skew = FIT == Fit::EVEN ? 0 : reinterpret_cast<size_t>(target) % SECTOR / BYTES;
            const int from = MARGIN * COUNT - skew;
#pragma unroll
            for (int word = lane; word < WORDS; word += 32) {
                const int at = from / COUNT + word, to = word * COUNT - skew;
                Word value = held[row][at ^ swap];
                if (FIT != Fit::EVEN && COUNT > 1 && from % COUNT)
                    value = join(value, held[row][(at + 1) ^ swap], from % COUNT * BYTES);
                if (FIT != Fit::BROKEN)
                    *reinterpret_cast<Word *>(target + to) = value;
                else
                    for (int k = 0; k < COUNT; ++k)
                        if (top + to + k >= 0 && top + to + k < rows) target[to + k] = value >> 8 * BYTES * k;
            }
        }
    }

    __device__ __forceinline__ void operator()(const Element *a, Element *b, typename Sizes::Held held) const
    {
        fetch(a, held);
        __syncthreads();
        store(b, held);
    }
};

template <typename T>
__global__ __launch_bounds__(32 * Elements<sizeof(T)>::WARPS) void word_tile(const T *a, T *b, long long rows, long long columns)
{
    constexpr int BYTES = sizeof(T);
    using Sizes = Tile<BYTES>;
    constexpr int SIDE = Sizes::SIDE, COUNT = Sizes::COUNT, MARGIN = Sizes::MARGIN * COUNT;
    __shared__ typename Sizes::Word held[SIDE][Sizes::PITCH];
    const auto *from = reinterpret_cast<const typename Sizes::Element *>(a);
    auto *to = reinterpret_cast<typename Sizes::Element *>(b);
    const unsigned int down = (rows + MARGIN - 2) / SIDE + 1;  // b's last boundary may lie so far before its end
    const long long top = static_cast<long long>(blockIdx.x % down) * SIDE;
    const long long left = static_cast<long long>(blockIdx.x / down) * SIDE;
    const bool words = (columns * BYTES | reinterpret_cast<size_t>(a)) % sizeof(typename Sizes::Word) == 0;
    const bool sectors = (rows * BYTES | reinterpret_cast<size_t>(b)) % SECTOR == 0;
    const bool whole = top + SIDE <= rows && left + SIDE <= columns;
    if (whole && words && sectors)
        Transpose<BYTES, Fit::EVEN>{rows, columns, top, left}(from, to, held);
    else if (whole && top >= MARGIN && left >= COUNT && left + SIDE + COUNT <= columns)
        Transpose<BYTES, Fit::ODD>{rows, columns, top, left}(from, to, held);
    else
        Transpose<BYTES, Fit::BROKEN>{rows, columns, top, left}(from, to, held);
}
