/* What constructors register before main() begins: fat binaries, kernels and variables.
 *
 * Part of bridge.c. The slots of these functions lead here until Python comes, which a program that has begun
 * need not wait for: each call is written down, and inside.py reads what was written.
 */

/* A fat binary (name and value are null), a kernel, a variable or a managed variable; inside.py reads them.
 * One without a handle was taken back. */
struct registered {
    void **handle; /* what the program has of its fat binary: the address of its wrapper's address */
    uint64_t kind; /* 0 to 3, as above */
    const void *host;
    const char *name;
};

static struct {
    struct registered *rows;
    uint64_t count, room;
} early;

static void write_down(struct registered row) {
    if (early.count == early.room) {
        early.room = early.room ? 2 * early.room : 64;
        early.rows = realloc(early.rows, early.room * sizeof row);
        if (!early.rows) give_up("registering", "there is no memory");
    }
    early.rows[early.count++] = row;
}

static const struct function *row_of(const char *name) {
    return bsearch(name, runtime13.functions, runtime13.count, sizeof(struct function), compare);
}

/* The function to call instead, once Python is there; null before. The lock is held in that case. */
static void *begin_early(const char *name, void *own) {
    pthread_mutex_lock(&starting);
    void *now = warpglass_slots[row_of(name)->slot];
    if (now == own) return NULL;
    pthread_mutex_unlock(&starting);
    return now;
}

static void **register_binary(void *wrapper) {
    void **(*now)(void *) = begin_early("__cudaRegisterFatBinary", register_binary);
    if (now) return now(wrapper);
    void **handle = malloc(sizeof *handle);
    if (!handle) give_up("registering", "there is no memory");
    *handle = wrapper;
    write_down((struct registered){handle, 0, NULL, NULL});
    pthread_mutex_unlock(&starting);
    return handle;
}

static void register_end(void **handle) { (void)handle; }

static void register_kernel(void **handle, const void *host, void *device, const char *name, int threads, void *thread,
                            void *block, void *blocks, void *grid, void *warp) {
    void (*now)(void **, const void *, void *, const char *, int, void *, void *, void *, void *, void *) =
        begin_early("__cudaRegisterFunction", register_kernel);
    if (now) {
        now(handle, host, device, name, threads, thread, block, blocks, grid, warp);
        return;
    }
    write_down((struct registered){handle, 1, host, name});
    pthread_mutex_unlock(&starting);
}

typedef void register_data(void **, void *, void *, const char *, int, size_t, int, int);

static void register_variable(void **handle, void *host, void *device, const char *name, int external, size_t size,
                              int constant, int of_all) {
    register_data *now = begin_early("__cudaRegisterVar", register_variable);
    if (now) {
        now(handle, host, device, name, external, size, constant, of_all);
        return;
    }
    write_down((struct registered){handle, 2, host, name});
    pthread_mutex_unlock(&starting);
}

static void register_managed(void **handle, void *host, void *device, const char *name, int external, size_t size,
                             int constant, int of_all) {
    register_data *now = begin_early("__cudaRegisterManagedVar", register_managed);
    if (now) {
        now(handle, host, device, name, external, size, constant, of_all);
        return;
    }
    write_down((struct registered){handle, 3, host, name});
    pthread_mutex_unlock(&starting);
}

static void unregister_binary(void **handle) {
    void (*now)(void **) = begin_early("__cudaUnregisterFatBinary", unregister_binary);
    if (now) {
        now(handle);
        return;
    }
    for (uint64_t i = 0; i < early.count; i++)
        if (early.rows[i].handle == handle) early.rows[i].handle = NULL;
    pthread_mutex_unlock(&starting);
}

static const struct {
    const char *name;
    void *function;
} registering[] = {
    {"__cudaRegisterFatBinary", register_binary},   {"__cudaRegisterFatBinaryEnd", register_end},
    {"__cudaRegisterFunction", register_kernel},    {"__cudaRegisterVar", register_variable},
    {"__cudaRegisterManagedVar", register_managed}, {"__cudaUnregisterFatBinary", unregister_binary},
};

/* Let the functions that constructors call be those above, until Python fills the slots. */
static void register_early(void) {
    const struct runtime *runtimes[] = {&runtime12, &runtime13};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof registering / sizeof *registering; k++) {
            const struct function *row = bsearch(registering[k].name, runtimes[i]->functions, runtimes[i]->count,
                                                 sizeof *row, compare);
            if (row) warpglass_slots[row->slot] = registering[k].function;
        }
}
