// Simulates a disk whose flushes fail at random, and keeps track of what would survive a power
// failure.
//
//   cc -shared -fPIC -O1 -o failingdisk.so failingdisk.c
//   DISK_PATH=FILE DISK_FAILS=PER_THOUSAND LD_PRELOAD=./failingdisk.so PROGRAM
//
// As on Linux, a failed flush permanently loses everything written since the one before. The pages
// count as written, and a later successful flush does not write them unless they are written again.
// The path refers to another file once its folder has been flushed. Nothing reaches the real disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Files are identified by the salt in their header, because inodes are reused.
enum { saltAt = 16, saltEnd = 24 };
struct image {
    char salt[saltEnd - saltAt];
    size_t size;
    char *bytes;  // on the disk
    char *lost;   // bytes lost by a failed flush; 0 where nothing was lost
};
static struct image images[256];  // the most recently flushed files
static int next;
static struct image *named;  // the file that the path refers to
static unsigned seed = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct image *image(const char *bytes, size_t size) {
    struct image *image = images;
    while (image < images + 256 && memcmp(image->salt, bytes + saltAt, sizeof image->salt)) image++;
    if (image == images + 256) {
        do image = &images[next++ % 256]; while (image == named);
        memcpy(image->salt, bytes + saltAt, sizeof image->salt);
        memset(image->bytes, 0, image->size);
        memset(image->lost, 0, image->size);
    }
    if (size > image->size) {
        image->bytes = realloc(image->bytes, size);
        image->lost = realloc(image->lost, size);
        memset(image->bytes + image->size, 0, size - image->size);
        memset(image->lost + image->size, 0, size - image->size);
        image->size = size;
    }
    return image;
}

// Returns the contents of the file when the flush begins, and whether the flush will fail.
static int begin(int file, char **bytes, ssize_t *size) {
    struct stat status;
    if (fstat(file, &status)) return -1;
    *bytes = malloc(status.st_size + 1);
    *size = pread(file, *bytes, status.st_size, 0);
    pthread_mutex_lock(&lock);
    int fails = rand_r(&seed) % 1000 < atoi(getenv("DISK_FAILS"));
    pthread_mutex_unlock(&lock);
    usleep(100);
    return fails;
}

static int end(int fails, char *bytes) {
    pthread_mutex_unlock(&lock);
    free(bytes);
    if (!fails) return 0;
    errno = EIO;
    return -1;
}

int fdatasync(int file) {
    char *bytes;
    ssize_t size;
    int fails = begin(file, &bytes, &size);
    pthread_mutex_lock(&lock);
    if (size >= saltEnd) {
        struct image *disk = image(bytes, size);
        for (ssize_t i = 0; i < size; i++) {
            // The words of the header on the disk stay as they were. Each commit writes them again.
            if (fails && i >= 40 && i < 56) continue;
            // Zeros never replace anything, because the texts that are searched for contain none.
            if (bytes[i] == disk->bytes[i] || bytes[i] == disk->lost[i]) continue;
            *(fails ? &disk->lost[i] : &disk->bytes[i]) = bytes[i];
            if (!fails) disk->lost[i] = 0;
        }
    }
    return end(fails, bytes);
}

// Returns the image of a file, or 0 if it was never flushed.
static struct image *find(int file) {
    char head[saltEnd];
    // Open the file again, because the descriptor may be write-only.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = again < 0 ? -1 : pread(again, head, sizeof head, 0);
    if (again >= 0) close(again);
    if (got != sizeof head) return 0;
    for (struct image *image = images; image < images + 256; image++)
        if (image->size && !memcmp(image->salt, head + saltAt, sizeof image->salt)) return image;
    return 0;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    ssize_t written = real(file, bytes, count, at);
    pthread_mutex_lock(&lock);
    struct image *image = written > 0 ? find(file) : 0;
    for (off_t i = at; image && i < at + written && i < (off_t)image->size; i++) image->lost[i] = 0;
    pthread_mutex_unlock(&lock);
    return written;
}

// Flushes a folder: records which file the path refers to when the flush begins.
int fsync(int folder) {
    int file = open(getenv("DISK_PATH"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char *bytes;
    ssize_t size;
    int fails = begin(file, &bytes, &size);
    close(file);
    pthread_mutex_lock(&lock);
    if (!fails && size >= saltEnd) named = image(bytes, size);
    return end(fails, bytes);
}

// Returns whether the disk holds the text, before the first lost byte and the committed end.
int disk_holds(const char *text) {
    pthread_mutex_lock(&lock);
    size_t good = 0;
    unsigned end = 0;
    if (named) memcpy(&end, named->bytes + 40, sizeof end);
    while (named && good < named->size && good < (end & ~7u) && !named->lost[good]) good++;
    int holds = named && memmem(named->bytes, good, text, strlen(text)) != 0;
    pthread_mutex_unlock(&lock);
    return holds;
}
