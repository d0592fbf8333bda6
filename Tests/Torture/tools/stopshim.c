// Stops a program before and after each call that changes a file, until a driver answers.
//
//   cc -shared -fPIC -O1 -o stopshim.so stopshim.c -ldl -lpthread
//   STOP_PATH=PART_OF_PATH STOP_OUT=5 STOP_IN=6 LD_PRELOAD=./stopshim.so PROGRAM
//
// STOP_PATH  only descriptors and names that contain this text
// STOP_OUT   the descriptor that gets a line at each stop: the call, its offset and its length
// STOP_IN    the descriptor from which a line is read then:
//            go          make the call, and stop again after it with the line "done CALL RESULT"
//            cut N       write only N bytes, and return N
//            fail ERRNO  do not make the call
//            lie ERRNO   make the call, and report that it failed
#define _GNU_SOURCE
#define CHOSEN_PATH "STOP_PATH"
#include "shim.h"
#include <pthread.h>

// One stop at a time: a flush in the background stops too.
static pthread_mutex_t stopping = PTHREAD_MUTEX_INITIALIZER;

// Returns the driver's answer and its number.
static char stop(const char *line, long *number) {
    REAL(ssize_t, "write", int, const void *, size_t);
    char answer[64];
    size_t count = 0;
    pthread_mutex_lock(&stopping);
    real(atoi(getenv("STOP_OUT")), line, strlen(line));
    while (count < sizeof answer - 1 && read(atoi(getenv("STOP_IN")), answer + count, 1) == 1)
        if (answer[count++] == '\n') break;
    pthread_mutex_unlock(&stopping);
    answer[count] = 0;
    // Without a driver the program ends.
    if (!count) _exit(3);
    *number = strchr(answer, ' ') ? atol(strchr(answer, ' ')) : 0;
    return answer[0];
}

#define BEFORE(...) char line[128]; long number; snprintf(line, sizeof line, __VA_ARGS__); char answer = stop(line, &number)
#define AFTER(call, result) do { \
        int code = errno; \
        snprintf(line, sizeof line, "done " call " %ld\n", (long)(result)); \
        stop(line, &number); \
        errno = code; \
    } while (0)
#define FAIL() do { errno = (int)number; return -1; } while (0)

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    if (!fd_matches(fd)) return real(fd, bytes, count, offset);
    BEFORE("pwrite %ld %zu\n", (long)offset, count);
    if (answer == 'f') FAIL();
    ssize_t result = real(fd, bytes, answer == 'c' ? (size_t)number : count, offset);
    long code = number;
    AFTER("pwrite", result);
    number = code;
    if (answer == 'l') FAIL();
    return result;
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }

#define CALL(matches, name, real_call) do { \
        if (!(matches)) return real_call; \
        BEFORE(name " 0 0\n"); \
        if (answer == 'f') FAIL(); \
        int result = real_call; \
        AFTER(name, result); \
        return result; \
    } while (0)

int fdatasync(int fd) { REAL(int, "fdatasync", int); CALL(fd_matches(fd), "fdatasync", real(fd)); }
int fsync(int fd) { REAL(int, "fsync", int); CALL(fd_matches(fd), "fsync", real(fd)); }
int flock(int fd, int operation) { REAL(int, "flock", int, int); CALL(fd_matches(fd), "flock", real(fd, operation)); }
int renameat(int from, const char *old, int to, const char *new) {
    REAL(int, "renameat", int, const char *, int, const char *);
    CALL(path_matches(old) || path_matches(new) || fd_matches(from), "renameat", real(from, old, to, new));
}
int unlinkat(int folder, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    CALL(path_matches(name) || fd_matches(folder), "unlinkat", real(folder, name, flags));
}
int openat(int folder, const char *name, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }
    REAL(int, "openat", int, const char *, int, ...);
    CALL((flags & O_CREAT) && (path_matches(name) || fd_matches(folder)), "openat", real(folder, name, flags, mode));
}
