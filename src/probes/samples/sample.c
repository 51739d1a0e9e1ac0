// What tests find in a program in C: functions with arguments of many types, aliases, marks of sys/sdt.h. It is never run.

#include <stddef.h>
#include <stdint.h>

// As sys/sdt.h writes a mark, which is a package of its own: `places`, `semaphore` and `arguments` go into a note.
#define MARK(name, semaphore, arguments)                                        \
    __asm__ volatile(                                                           \
        "990: nop\n"                                                            \
        ".pushsection .note.stapsdt,\"\",\"note\"\n"                            \
        ".balign 4\n"                                                           \
        ".4byte 992f-991f, 994f-993f, 3\n"                                      \
        "991: .asciz \"stapsdt\"\n"                                             \
        "992: .balign 4\n"                                                      \
        "993: .8byte 990b\n"                                                    \
        ".8byte _.stapsdt.base\n"                                               \
        ".8byte " semaphore                                                     \
        "\n"                                                                    \
        ".asciz \"sample\"\n"                                                   \
        ".asciz \"" name                                                        \
        "\"\n"                                                                  \
        ".asciz \"" arguments                                                   \
        "\"\n"                                                                  \
        "994: .balign 4\n"                                                      \
        ".popsection\n"                                                         \
        ".ifndef _.stapsdt.base\n"                                              \
        ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
        ".weak _.stapsdt.base\n"                                                \
        ".hidden _.stapsdt.base\n"                                              \
        "_.stapsdt.base: .space 1\n"                                            \
        ".size _.stapsdt.base, 1\n"                                             \
        ".popsection\n"                                                         \
        ".endif\n")

#define KEPT __attribute__((noinline, used))

enum color { kRed = 1, kBlue = 2 };

struct name {
    char short_name[16];
    const char* long_name;
};

struct client {
    int32_t id;
    uint16_t port;
    struct name name;
};

struct request {
    uint64_t number;
    struct client* client;
    struct client first;
    union {
        int32_t kind;
        float weight;
    };
    unsigned int is_new : 1, level : 5;
    struct request* next;
};

struct pair {
    int64_t left, right;
};

struct large {
    int64_t numbers[5];
};

typedef struct request* request_handle;

volatile int64_t sink;
unsigned short sample_begun_semaphore __attribute__((section(".probes"), used));

KEPT int32_t read_request(const struct request* request,
                          const char* why,
                          uint8_t flags,
                          int16_t delta) {
    sink = (int64_t)(request->number + (uint64_t)why[0] + flags + (uint64_t)delta);
    MARK("begun", "sample_begun_semaphore", "8@%rdi -4@-8(%rbp)");
    return (int32_t)sink;
}

KEPT double mixed(double factor, int64_t count, float small, enum color color, void* place) {
    sink = count + color + (place != NULL);
    MARK("ended", "0", "");
    return factor * small;
}

KEPT int64_t by_value(struct pair pair, struct large large, int64_t after) {
    sink = pair.left + large.numbers[2] + after;
    MARK("ended", "0", "-4@$7");
    return sink;
}

KEPT struct large large_result(int64_t seed) {
    struct large result = {{seed, seed, seed, seed, seed}};
    sink = seed;
    return result;
}

KEPT int64_t many(int64_t a,
                  int64_t b,
                  int64_t c,
                  int64_t d,
                  int64_t e,
                  int64_t f,
                  int64_t g,
                  int64_t h,
                  int64_t i) {
    sink = a + b + c + d + e + f + g + h + i;
    return sink;
}

KEPT static request_handle only_here(request_handle handle) {
    sink = (int64_t)handle->number;
    return handle->next;
}

KEPT const char* name_of(const struct client* client) {
    sink = client->id;
    return client->name.long_name;
}

KEPT void nothing(void) {
    sink = 0;
}

int32_t read_request_by_another_name(const struct request*, const char*, uint8_t, int16_t)
    __attribute__((alias("read_request")));

static int64_t chosen_plain(void) {
    return 1;
}
static int64_t (*choose(void))(void) {
    return chosen_plain;
}
int64_t chosen(void) __attribute__((ifunc("choose")));

int main(void) {
    struct client client = {1, 2, {"a", "b"}};
    struct request request = {.number = 1, .client = &client};
    read_request(&request, "why", 1, 2);
    mixed(1, 2, 3, kBlue, &client);
    by_value((struct pair){1, 2}, (struct large){{1}}, 3);
    large_result(many(1, 2, 3, 4, 5, 6, 7, 8, 9));
    name_of(&client);
    nothing();
    return only_here(&request) == NULL && chosen() == 1 ? 0 : 1;
}
