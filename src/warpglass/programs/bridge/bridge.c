/* The way of a CUDA program from its own process into Python, where the virtual GPU is.
 *
 * This library is preloaded into every process under `warpglass run`. Each function of the CUDA driver and
 * runtime is a jump through a slot of `warpglass_slots` (stubs.py writes them). At first the slots lead to
 * `warpglass_enter`: the first call of any of them brings Python into the process, which fills all slots. A
 * process that calls none, a shell for instance, pays for one look at the files that it has loaded. What
 * constructors register before main() begins is written down here and told to Python when it comes.
 *
 * That look is for programs and libraries that carry the runtime in themselves (libcudart_static.a): their
 * functions are found by the symbol table, and their first bytes become jumps through the slots. It is done
 * before their constructors, which register kernels: here for what the process starts with (the library is
 * marked as DF_1_INITFIRST), and for what is loaded later in the function that the dynamic linker calls for
 * debuggers (r_brk, see link.h).
 *
 * A program that was built for this run and starts itself by its name, where no such file is, gets itself.
 *
 * tables.h (stubs.py) has PYTHON_LIBRARY, PYTHON_PROGRAM, the lines of Python SIGNALS, ENTRANCE, LIBRARY and EXIT,
 * and the functions of each library with their slots, sorted by name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables.h"

#define WANTED "WARPGLASS_VIRTUAL_GPU"
#define MARK "CUDA driver version is insufficient for CUDA runtime version" /* a text of the static runtime's */
#define EXPORTED __attribute__((visibility("default")))

extern void *warpglass_slots[];

/* ------------------------------------------------------------------------------------ Python */

static pthread_mutex_t starting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static volatile int started;

static void give_up(const char *what, const char *why) {
    fprintf(stderr, "warpglass: the virtual GPU cannot be brought into this process: %s%s%s\n", what,
            why ? ": " : "", why ? why : "");
    _exit(70);
}

static void *function_of(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) give_up(name, dlerror());
    return found;
}

static void run_python(void *library, const char *line) {
    if (((int (*)(const char *))function_of(library, "PyRun_SimpleString"))(line))
        give_up("Python could not start it", NULL);
}

/* The process ends by exit(): Python ends its threads and says what it has to say. It is not let go again, since
 * what its other threads use is taken down meanwhile; the slots lead past it by then. */
static void leave(void) {
    void *library = dlopen(PYTHON_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    ((int (*)(void))function_of(library, "PyGILState_Ensure"))();
    ((int (*)(const char *))function_of(library, "PyRun_SimpleString"))(EXIT);
}

static int compare(const void *name, const void *row) {
    return strcmp(name, ((const struct function *)row)->name);
}

#include "registering.h"

/* Run the line of Python that fills the slots, in the interpreter that is there or in a new one. */
static void bring_python(void) {
    char line[sizeof ENTRANCE + 64];
    void *library = RTLD_DEFAULT;
    int (*initialized)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    int there = initialized && initialized();
    if (!there) {
        library = dlopen(PYTHON_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
        if (!library) give_up(PYTHON_LIBRARY, dlerror());
        wchar_t program[sizeof PYTHON_PROGRAM];
        size_t length = mbstowcs(program, PYTHON_PROGRAM, sizeof PYTHON_PROGRAM);
        if (length == (size_t)-1) /* the program has set no locale: the name's bytes are taken as they are */
            for (length = 0; length <= strlen(PYTHON_PROGRAM); length++)
                program[length] = (unsigned char)PYTHON_PROGRAM[length];
        ((void (*)(const wchar_t *))function_of(library, "Py_SetProgramName"))(program);
        sigset_t interrupt, before; /* signals stay the program's; Ctrl-C waits for that */
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        pthread_sigmask(SIG_BLOCK, &interrupt, &before);
        ((void (*)(int))function_of(library, "Py_InitializeEx"))(0);
        run_python(library, SIGNALS);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    int held = ((int (*)(void))function_of(library, "PyGILState_Ensure"))();
    snprintf(line, sizeof line, ENTRANCE, (unsigned long long)(uintptr_t)warpglass_slots, there,
             (unsigned long long)(uintptr_t)&early);
    run_python(library, line);
    ((void (*)(int))function_of(library, "PyGILState_Release"))(held);
    if (!there) {
        atexit(leave);
        ((void *(*)(void))function_of(library, "PyEval_SaveThread"))();
    }
}

/* Fill the slots of the library that a slot belongs to, one of those that are seldom called. */
static void fill_library(uint64_t slot) {
    char line[sizeof LIBRARY + 32];
    void *library = RTLD_DEFAULT;
    if (!dlsym(library, "PyGILState_Ensure")) library = dlopen(PYTHON_LIBRARY, RTLD_NOW);
    int held = ((int (*)(void))function_of(library, "PyGILState_Ensure"))();
    snprintf(line, sizeof line, LIBRARY, (unsigned long long)slot);
    run_python(library, line);
    ((void (*)(int))function_of(library, "PyGILState_Release"))(held);
}

/* Called through a slot that is not filled yet. */
EXPORTED void warpglass_enter(uint64_t slot) {
    void *before = warpglass_slots[slot];
    pthread_mutex_lock(&starting);
    if (!started) {
        started = 1; /* what Python itself calls meanwhile must not begin again */
        bring_python();
    }
    if (warpglass_slots[slot] == before) fill_library(slot);
    if (warpglass_slots[slot] == before) give_up("one of its functions is called while it starts", NULL);
    pthread_mutex_unlock(&starting);
}

/* ------------------------------------------------------------------------------------ code that is led here */

#if defined(__x86_64__)
enum { JUMP = 13, DIRECT = 14 };
/* movabs $slot, %r11; jmp *(%r11) */
static void write_jump(unsigned char *place, void **slot) {
    uint64_t at = (uintptr_t)slot;
    memcpy(place, "\x49\xbb", 2);
    memcpy(place + 2, &at, 8);
    memcpy(place + 10, "\x41\xff\x23", 3);
}
/* jmp *0(%rip), and the address */
static void write_direct(unsigned char *place, void *target) {
    uint64_t at = (uintptr_t)target;
    memcpy(place, "\xff\x25\0\0\0\0", 6);
    memcpy(place + 6, &at, 8);
}
#elif defined(__aarch64__)
enum { JUMP = 20, DIRECT = 16 };
/* ldr x16, .+12; ldr x16, [x16]; br x16, and the slot's address */
static void write_jump(unsigned char *place, void **slot) {
    uint32_t code[] = {0x58000070, 0xf9400210, 0xd61f0200};
    uint64_t at = (uintptr_t)slot;
    memcpy(place, code, 12);
    memcpy(place + 12, &at, 8);
}
/* ldr x16, .+8; br x16, and the address */
static void write_direct(unsigned char *place, void *target) {
    uint32_t code[] = {0x58000050, 0xd61f0200};
    uint64_t at = (uintptr_t)target;
    memcpy(place, code, 8);
    memcpy(place + 8, &at, 8);
}
#else
#error "x86-64 or aarch64 is needed"
#endif

/* Let code be written, or run again; 0 if the system does not allow it. */
static int protect(uintptr_t place, size_t size, int how) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = place & ~(page - 1);
    size_t length = (place + size - start + page - 1) & ~(page - 1);
    return mprotect((void *)start, length, how) == 0;
}

/* ------------------------------------------------------------------------------------ a loaded file */

struct image {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    const char *names;
    unsigned count;
};

/* A loaded file as it is on disk; 0 if it cannot be read or is none. */
static int open_image(const char *path, struct image *image) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    image->bytes = MAP_FAILED;
    if (fstat(file, &status) == 0 && (size_t)status.st_size > sizeof(Elf64_Ehdr)) {
        image->size = (size_t)status.st_size;
        image->bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    if (image->bytes == MAP_FAILED) return 0;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image->bytes;
    image->count = head->e_shnum;
    if (memcmp(head->e_ident, ELFMAG "\2\1", 6) == 0 && head->e_shoff && head->e_shentsize == sizeof(Elf64_Shdr) &&
        head->e_shoff + (size_t)image->count * sizeof(Elf64_Shdr) <= image->size &&
        head->e_shstrndx < image->count) {
        image->sections = (const Elf64_Shdr *)(image->bytes + head->e_shoff);
        const Elf64_Shdr *names = &image->sections[head->e_shstrndx];
        if (names->sh_offset + names->sh_size <= image->size) {
            image->names = (const char *)image->bytes + names->sh_offset;
            return 1;
        }
    }
    munmap((void *)image->bytes, image->size);
    return 0;
}

static const Elf64_Shdr *section_of(const struct image *image, const char *name, unsigned kind) {
    for (unsigned i = 0; i < image->count; i++) {
        const Elf64_Shdr *one = &image->sections[i];
        int named = name && strcmp(image->names + one->sh_name, name) == 0;
        if ((named || (!name && one->sh_type == kind)) &&
            (one->sh_type == SHT_NOBITS || one->sh_offset + one->sh_size <= image->size))
            return one;
    }
    return NULL;
}

/* What is done with each function that a file defines. */
typedef void visitor(const char *name, const Elf64_Sym *symbol, void *context);

static void each_function(const struct image *image, unsigned table, visitor *visit, void *context) {
    const Elf64_Shdr *symbols = section_of(image, NULL, table);
    if (!symbols || symbols->sh_link >= image->count) return;
    const char *strings = (const char *)image->bytes + image->sections[symbols->sh_link].sh_offset;
    const Elf64_Sym *one = (const Elf64_Sym *)(image->bytes + symbols->sh_offset);
    for (size_t i = symbols->sh_size / sizeof *one; i > 0; i--, one++)
        if (ELF64_ST_TYPE(one->st_info) == STT_FUNC && one->st_shndx != SHN_UNDEF)
            visit(strings + one->st_name, one, context);
}

struct found {
    uintptr_t base, low, high;
    int runtime, release; /* whether it defines the runtime, and which one, 12 or 13 */
};

static void look(const char *name, const Elf64_Sym *symbol, void *context) {
    struct found *found = context;
    if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6)) return;
    if (strcmp(name, "__cudaRegisterFatBinary") == 0) found->runtime = 1;
    if (strcmp(name, "cudaGetDeviceProperties_v2") == 0) found->release = 12; /* 13 has one form of it */
    if (found->low > symbol->st_value) found->low = symbol->st_value;
    if (found->high < symbol->st_value + symbol->st_size) found->high = symbol->st_value + symbol->st_size;
}

static void lead(const char *name, const Elf64_Sym *symbol, void *context) {
    struct found *found = context;
    const struct runtime *runtime = found->release == 12 ? &runtime12 : &runtime13;
    const struct function *row = bsearch(name, runtime->functions, runtime->count, sizeof *row, compare);
    /* Functions begin at multiples of 16 bytes, so what follows a short one up to there is nobody's. */
    if (row && (symbol->st_size + 15) / 16 * 16 >= JUMP)
        write_jump((unsigned char *)found->base + symbol->st_value, &warpglass_slots[row->slot]);
}

static void say_stripped(const char *path) {
    fprintf(stderr,
            "warpglass: %s carries the CUDA runtime in itself and its symbols are stripped, so its calls cannot "
            "be led to the virtual GPU; link it with `nvcc -cudart shared`, or do not strip it\n",
            path);
}

/* Lead the functions of a runtime that a loaded file has in itself, or is, to the slots. */
static void lead_file(const struct link_map *file, const char *path) {
    struct image image;
    if (!open_image(path, &image)) return;
    struct found found = {.base = file->l_addr, .low = UINTPTR_MAX, .release = 13};
    unsigned table = section_of(&image, NULL, SHT_SYMTAB) ? SHT_SYMTAB : SHT_DYNSYM;
    each_function(&image, table, look, &found);
    size_t length = found.high - found.low;
    if (found.runtime && protect(found.base + found.low, length, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        each_function(&image, table, lead, &found);
        protect(found.base + found.low, length, PROT_READ | PROT_EXEC);
    } else if (table == SHT_DYNSYM && section_of(&image, ".nvFatBinSegment", 0) &&
               memmem(image.bytes, image.size, MARK, sizeof MARK - 1))
        say_stripped(path);
    munmap((void *)image.bytes, image.size);
}

/* ------------------------------------------------------------------------------------ what is loaded */

static const struct link_map *seen; /* the last file of the list that has been looked at */

static void lead_loaded(void) {
    const struct link_map *file = seen ? seen->l_next : _r_debug.r_map;
    for (; file; file = file->l_next) {
        const char *path = file->l_name;
        if (file == _r_debug.r_map)
            lead_file(file, "/proc/self/exe");
        else if (path && *path)
            lead_file(file, path);
        seen = file;
    }
}

/* In place of the dynamic linker's function for debuggers: it has mapped files, or is about to. */
static void mapping_changed(void) {
    if (_r_debug.r_state == RT_CONSISTENT)
        lead_loaded();
    else if (_r_debug.r_state == RT_DELETE) { /* the list loses members: look at all that stay to find its end */
        seen = NULL;
    }
}

/* ------------------------------------------------------------------------------------ programs that start themselves */

/* A program built for this run has the name that it would have beside its source, where there is no such file. */
static const char *own_name;

static void note_name(int count, char **arguments) {
    if (count > 0 && access(arguments[0], F_OK)) own_name = arguments[0];
}

static int is_own(const char *name) { return errno == ENOENT && own_name && strcmp(name, own_name) == 0; }

static void *next_of(const char *name) { return dlsym(RTLD_NEXT, name); }

/* ------------------------------------------------------------------------------------ the process's end */

typedef int at_exit(void (*)(void *), void *, void *);

/* What exit() would take down of LLVM stays: a thread of ours may compile until the process has ended. */
EXPORTED int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
    Dl_info file;
    if (library && dladdr(library, &file) && file.dli_fname && strstr(file.dli_fname, "llvmlite")) return 0;
    return ((at_exit *)next_of("__cxa_atexit"))(function, argument, library);
}

/* ------------------------------------------------------------------------------------ starting itself */

#define SELF "/proc/self/exe"
typedef int execute(const char *, char *const *, char *const *);
typedef int spawn(pid_t *, const char *, const void *, const void *, char *const *, char *const *);

static int execute_or_self(const char *function, const char *file, char *const *words, char *const *variables) {
    execute *first = (execute *)next_of(function);
    first(file, words, variables);
    if (is_own(file)) ((execute *)next_of("execve"))(SELF, words, variables);
    return -1;
}

EXPORTED int execve(const char *file, char *const words[], char *const variables[]) {
    return execute_or_self("execve", file, words, variables);
}
EXPORTED int execv(const char *file, char *const words[]) { return execute_or_self("execve", file, words, environ); }
EXPORTED int execvpe(const char *file, char *const words[], char *const variables[]) {
    return execute_or_self("execvpe", file, words, variables);
}
EXPORTED int execvp(const char *file, char *const words[]) { return execute_or_self("execvpe", file, words, environ); }

static int spawn_or_self(const char *function, pid_t *child, const char *file, const void *actions, const void *how,
                         char *const *words, char *const *variables) {
    char self[4096];
    int status = ((spawn *)next_of(function))(child, file, actions, how, words, variables);
    errno = status;
    if (status == 0 || !is_own(file)) return status;
    ssize_t length = readlink(SELF, self, sizeof self - 1); /* the child has another file by that name */
    if (length < 0) return status;
    self[length] = 0;
    return ((spawn *)next_of("posix_spawn"))(child, self, actions, how, words, variables);
}

EXPORTED int posix_spawn(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *how, char *const words[], char *const variables[]) {
    return spawn_or_self("posix_spawn", child, file, actions, how, words, variables);
}
EXPORTED int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *how, char *const words[], char *const variables[]) {
    return spawn_or_self("posix_spawnp", child, file, actions, how, words, variables);
}

__attribute__((constructor)) static void begin(int count, char **arguments, char **environment) {
    note_name(count, arguments);
    for (; *environment; environment++)
        if (strncmp(*environment, WANTED "=", sizeof WANTED) == 0) break;
    if (!*environment) return;
    register_early();
    lead_loaded();
    uintptr_t brake = (uintptr_t)_r_debug.r_brk;
    if (brake && protect(brake, DIRECT, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        write_direct((unsigned char *)brake, (void *)mapping_changed);
        protect(brake, DIRECT, PROT_READ | PROT_EXEC);
    }
}
