// How a program of the portable package starts: it brings its own libraries, the C library and the dynamic loader too, so
// that it runs on any x86-64 Linux, whatever libraries are there.
//
//   kernel ──exec──► bin/dyetrace ──► portable_start: maps lib/dyetrace/ld-linux-x86-64.so.2 ──► the loader ──► _start, main
//
// The kernel would only take a loader by an absolute path, and the package may lie anywhere. So the program names none
// (-Wl,--no-dynamic-linker), and this is where the kernel enters it. It does what the kernel would have done: maps the
// loader, says so in the auxiliary vector, and jumps to it. Starting the loader with the program as its argument would be
// simpler, but then /proc/self/exe, by which dyetrace finds itself and its parts, and the process's name were the loader's.
//
// No library is there yet and nothing is relocated: no functions of libc, no pointers in static data.
#include <elf.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define LOADER "ld-linux-x86-64.so.2"
#define PAGE 4096ul

__attribute__((visibility("hidden"))) extern void _start(void);
__attribute__((visibility("hidden"))) extern const char __ehdr_start[];  // where this program lies

__asm__(
    ".globl portable_start\n"
    ".hidden portable_start\n"
    "portable_start:\n"
    "    xor %ebp, %ebp\n"
    "    mov %rsp, %rbx\n"
    "    mov %rsp, %rdi\n"
    "    and $-16, %rsp\n"
    "    call map_loader\n"
    "    mov %rbx, %rsp\n"  // the stack as the kernel left it: the number of arguments, they, the environment, the vector
    "    xor %edx, %edx\n"
    "    jmp *%rax\n");

static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static int failed(long result) {
    return result < 0 && result > -4096;
}

static size_t length(const char* text) {
    size_t n = 0;
    while (text[n] != 0) {
        ++n;
    }
    return n;
}

__attribute__((noreturn)) static void fail(const char* why) {
    call(SYS_write, 2, (long)"dyetrace: error: ", 17, 0, 0, 0);
    call(SYS_write, 2, (long)why, (long)length(why), 0, 0, 0);
    call(SYS_write, 2, (long)"\n", 1, 0, 0, 0);
    for (;;) {
        call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    }
}

static char loader_path[PATH_MAX + 64];

static int open_beside(size_t folder_length, const char* name) {
    for (size_t i = 0; i <= length(name); ++i) {
        loader_path[folder_length + i] = name[i];
    }
    return (int)call(SYS_open, (long)loader_path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
}

static int open_loader(void) {
    long end = call(SYS_readlink, (long)"/proc/self/exe", (long)loader_path, PATH_MAX, 0, 0, 0);
    if (failed(end)) {
        fail("/proc is not mounted");
    }
    while (end > 0 && loader_path[end - 1] != '/') {
        --end;
    }
    int file = open_beside((size_t)end, LOADER);
    if (file < 0) {
        file = open_beside((size_t)end, "../lib/dyetrace/" LOADER);
    }
    if (file < 0) {
        fail(LOADER " is neither beside this program nor in ../lib/dyetrace");
    }
    return file;
}

static void map(unsigned long at, size_t size, int protection, int file, unsigned long offset) {
    const int flags = MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);
    if (failed(call(SYS_mmap, (long)at, (long)size, protection, flags, file, (long)offset))) {
        fail(LOADER " could not be mapped");
    }
}

// What a segment has in memory beyond what the file has of it is zero.
static void map_segment(unsigned long base, const Elf64_Phdr* segment, int file) {
    const unsigned long begin = (base + segment->p_vaddr) & -PAGE;
    const unsigned long in_page = (base + segment->p_vaddr) - begin;
    const unsigned long file_end = base + segment->p_vaddr + segment->p_filesz;
    const unsigned long end = base + segment->p_vaddr + segment->p_memsz;
    const int protection = ((segment->p_flags & PF_R) != 0 ? PROT_READ : 0) |
                           ((segment->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                           ((segment->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    map(begin, in_page + segment->p_filesz, protection, file, segment->p_offset - in_page);
    if (end == file_end) {
        return;
    }
    const unsigned long page_end = (file_end + PAGE - 1) & -PAGE;
    for (unsigned long at = file_end; at < page_end; ++at) {
        *(volatile char*)at = 0;
    }
    if (end > page_end) {
        map(page_end, end - page_end, protection, -1, 0);
    }
}

// Where the loader lies, and how its file begins.
struct loader {
    unsigned long base;
    union {
        Elf64_Ehdr header;
        char bytes[2048];
    } file;
};

static void map_file(struct loader* loader) {
    const int file = open_loader();
    const Elf64_Ehdr* const header = &loader->file.header;
    const long size = call(SYS_read, file, (long)&loader->file, sizeof loader->file, 0, 0, 0);
    if (size < (long)sizeof *header || header->e_ident[EI_MAG0] != ELFMAG0 ||
        header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > (unsigned long)size) {
        fail(LOADER " is damaged");
    }
    const Elf64_Phdr* const segments = (const Elf64_Phdr*)(loader->file.bytes + header->e_phoff);
    unsigned long end = 0;
    for (int i = 0; i < header->e_phnum; ++i) {
        if (segments[i].p_type == PT_LOAD) {
            end = segments[i].p_vaddr + segments[i].p_memsz;
        }
    }
    const long base =
        call(SYS_mmap, 0, (long)end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (failed(base)) {
        fail("there is no memory for " LOADER);
    }
    loader->base = (unsigned long)base;
    for (int i = 0; i < header->e_phnum; ++i) {
        if (segments[i].p_type == PT_LOAD) {
            map_segment(loader->base, &segments[i], file);
        }
    }
    call(SYS_close, file, 0, 0, 0, 0, 0);
}

static void describe(Elf64_Phdr* header, unsigned type, const void* what, size_t size) {
    header->p_type = type;
    header->p_flags = PF_R;
    header->p_vaddr = header->p_paddr = (unsigned long)what - (unsigned long)__ehdr_start;
    header->p_filesz = header->p_memsz = size;
    header->p_align = 8;
}

// The loader wants two program headers that ld only writes together with the absolute path of a loader: where the program
// headers are, from which follows where the program lies, and what the loader is called.
static Elf64_Phdr headers[24];

static void add_headers(Elf64_auxv_t* address, Elf64_auxv_t* count) {
    const Elf64_Phdr* const given = (const Elf64_Phdr*)address->a_un.a_val;
    const unsigned long n = count->a_un.a_val + 2;
    if (n > sizeof headers / sizeof *headers) {
        fail("this program has too many program headers");
    }
    describe(&headers[0], PT_PHDR, headers, n * sizeof *headers);
    describe(&headers[1], PT_INTERP, loader_path, length(loader_path) + 1);
    for (unsigned long i = 2; i < n; ++i) {
        headers[i] = given[i - 2];
    }
    address->a_un.a_val = (unsigned long)headers;
    count->a_un.a_val = n;
}

static Elf64_auxv_t* find(Elf64_auxv_t* vector, unsigned long type) {
    while (vector->a_type != type) {
        if (vector->a_type == AT_NULL) {
            fail("the kernel says too little about this program");
        }
        ++vector;
    }
    return vector;
}

// Returns where the loader begins to run.
__attribute__((used)) static unsigned long map_loader(unsigned long* stack) {
    unsigned long* word = stack + 1 + stack[0] + 1;  // the arguments and their null
    while (*word != 0) {                             // the environment
        ++word;
    }
    Elf64_auxv_t* const vector = (Elf64_auxv_t*)(word + 1);
    // Whoever may make a link to the program chooses what lies beside it.
    if (find(vector, AT_SECURE)->a_un.a_val != 0) {
        fail("a portable program cannot have privileges of its own (setuid, setcap)");
    }
    struct loader loader;
    map_file(&loader);
    add_headers(find(vector, AT_PHDR), find(vector, AT_PHNUM));
    find(vector, AT_BASE)->a_un.a_val = loader.base;
    find(vector, AT_ENTRY)->a_un.a_val = (unsigned long)&_start;
    return loader.base + loader.file.header.e_entry;
}
