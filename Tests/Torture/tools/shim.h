// What the shims have in common: the real calls, and which calls they change. Define `CHOSEN_PATH`
// first, the variable of the environment with a part of the paths.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = dlsym(RTLD_NEXT, name)

static int path_matches(const char *path) {
    const char *want = getenv(CHOSEN_PATH);
    return want && path && strstr(path, want);
}
static int fd_matches(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return path_matches(path);
}
