// The part of Apple's C library that the package uses. Sources: POSIX; the manual pages open(2),
// fcntl(2), stat(2), flock(2), mmap(2), kqueue(2), sigaction(2), wait(2), intro(2), dlsym(3),
// pthread(3) and clock_gettime(3) of
// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/;
// the headers of https://github.com/apple-oss-distributions/xnu (bsd/sys) and
// https://github.com/apple-oss-distributions/libpthread.
#define API(mac, ios_, watch, tv) __attribute__((availability(macos, introduced=mac), availability(ios, introduced=ios_), \
    availability(watchos, introduced=watch), availability(tvos, introduced=tv)))
#define NOT_IN_SWIFT __attribute__((availability(swift, unavailable)))
#pragma clang attribute push(API(10.0, 2.0, 2.0, 9.0), apply_to = any(function, record, variable))

typedef __SIZE_TYPE__ size_t;
typedef long ssize_t;
typedef long long off_t;
typedef int pid_t;
typedef unsigned int uid_t, gid_t;
typedef unsigned short mode_t, nlink_t;
typedef int dev_t;
typedef unsigned long long ino_t;
typedef int blksize_t;
typedef long long blkcnt_t;
typedef long time_t;
typedef unsigned int useconds_t;

struct timespec { time_t tv_sec; long tv_nsec; };
struct stat {
    dev_t st_dev; mode_t st_mode; nlink_t st_nlink; ino_t st_ino; uid_t st_uid; gid_t st_gid; dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size; blkcnt_t st_blocks; blksize_t st_blksize; unsigned int st_flags, st_gen; int st_lspare; long long st_qspare[2];
};

#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_EXCL 0x0800
#define O_EVTONLY 0x00008000
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define AT_FDCWD -2
#define AT_SYMLINK_NOFOLLOW 0x0020
#define EVFILT_VNODE (-4)
#define EV_ADD 0x0001
#define EV_CLEAR 0x0020
#define NOTE_DELETE 0x00000001
#define NOTE_WRITE 0x00000002
#define NOTE_EXTEND 0x00000004
#define NOTE_LINK 0x00000010
#define NOTE_RENAME 0x00000020
#define NOTE_REVOKE 0x00000040
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define F_GETFD 1
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define PROT_READ 1
#define MAP_SHARED 1
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define PATH_MAX 1024
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EACCES 13
#define EBUSY 16
#define EEXIST 17
#define ENOTDIR 20
#define EINVAL 22
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ETIMEDOUT 60
#define EDQUOT 69
#define SIGKILL 9
#define SIGBUS 10
#define SIGPIPE 13
#define SIGALRM 14
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2

int open(const char *, int, ...) NOT_IN_SWIFT;
int openat(int, const char *, int, ...) NOT_IN_SWIFT API(10.10, 8.0, 2.0, 9.0);
int fcntl(int, int, ...) NOT_IN_SWIFT;
int close(int);
int dup(int);
int dup2(int, int);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
ssize_t pread(int, void *, size_t, off_t);
ssize_t pwrite(int, const void *, size_t, off_t);
int fsync(int);
int truncate(const char *, off_t);
int ftruncate(int, off_t);
int flock(int, int);
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int fstat(int, struct stat *);
int fstatat(int, const char *, struct stat *, int) API(10.10, 8.0, 2.0, 9.0);
ssize_t readlinkat(int, const char *, char *, size_t) API(10.10, 8.0, 2.0, 9.0);
int chmod(const char *, mode_t);
int fchmod(int, mode_t);
int fchmodat(int, const char *, mode_t, int) API(10.10, 8.0, 2.0, 9.0);
int chown(const char *, uid_t, gid_t);
int fchown(int, uid_t, gid_t);
mode_t umask(mode_t);
int mkdir(const char *, mode_t);
int mkdirat(int, const char *, mode_t) API(10.10, 8.0, 2.0, 9.0);
int mkfifo(const char *, mode_t);
int rename(const char *, const char *);
int renameat(int, const char *, int, const char *) API(10.10, 8.0, 2.0, 9.0);
int link(const char *, const char *);
int symlink(const char *, const char *);
ssize_t readlink(const char *, char *, size_t);
int unlink(const char *);
int unlinkat(int, const char *, int) API(10.10, 8.0, 2.0, 9.0);
int access(const char *, int);
#pragma pack(4)
struct kevent { unsigned long ident; short filter; unsigned short flags; unsigned int fflags; long data; void *udata; };
#pragma pack()
int kqueue(void);
int kevent(int, const struct kevent *, int, struct kevent *, int, const struct timespec *);
void *mmap(void *, size_t, int, int, int, off_t);
int munmap(void *, size_t);
int pipe(int *);
pid_t getpid(void);
uid_t getuid(void);
uid_t geteuid(void);
int setuid(uid_t);
int setgid(gid_t);
struct passwd {
    char *pw_name, *pw_passwd;
    uid_t pw_uid;
    gid_t pw_gid;
    time_t pw_change;
    char *pw_class, *pw_gecos, *pw_dir, *pw_shell;
    time_t pw_expire;
};
int getpwuid_r(uid_t, struct passwd *, char *, size_t, struct passwd **);
char *getenv(const char *);
int setenv(const char *, const char *, int);
int unsetenv(const char *);
char *strerror(int);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);
int atexit(void (*_Nonnull)(void));
void exit(int) __attribute__((noreturn));
void _exit(int) __attribute__((noreturn));
unsigned int alarm(unsigned int);
unsigned int sleep(unsigned int);
int usleep(useconds_t);
int nanosleep(const struct timespec *, struct timespec *);
int sched_yield(void);
typedef void (*sig_t)(int);
sig_t signal(int, sig_t);
typedef unsigned int sigset_t;
int sigemptyset(sigset_t *);
int sigaddset(sigset_t *, int);
int sigfillset(sigset_t *);
int sigprocmask(int, const sigset_t *, sigset_t *);
int kill(pid_t, int);
pid_t fork(void) NOT_IN_SWIFT;
pid_t waitpid(pid_t, int *, int);
void *dlsym(void *, const char *);

typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6, CLOCK_MONOTONIC_RAW = 4, CLOCK_UPTIME_RAW = 8 } clockid_t API(10.12, 10.0, 3.0, 10.0);
int clock_gettime(clockid_t, struct timespec *) API(10.12, 10.0, 3.0, 10.0);

// Apple's pthread headers say which pointers may be null.
#pragma clang assume_nonnull begin
#ifdef __LP64__
#define _PTHREAD_SIZE(lp64, ilp32) lp64
#else
#define _PTHREAD_SIZE(lp64, ilp32) ilp32
#endif
struct _opaque_pthread_t { long __sig; void *__cleanup_stack; char __opaque[_PTHREAD_SIZE(8176, 4088)]; };
struct _opaque_pthread_attr_t { long __sig; char __opaque[_PTHREAD_SIZE(56, 36)]; };
struct _opaque_pthread_mutex_t { long __sig; char __opaque[_PTHREAD_SIZE(56, 40)]; };
struct _opaque_pthread_mutexattr_t { long __sig; char __opaque[8]; };
struct _opaque_pthread_cond_t { long __sig; char __opaque[_PTHREAD_SIZE(40, 24)]; };
struct _opaque_pthread_condattr_t { long __sig; char __opaque[_PTHREAD_SIZE(8, 4)]; };
typedef struct _opaque_pthread_t *pthread_t;
typedef struct _opaque_pthread_attr_t pthread_attr_t;
typedef struct _opaque_pthread_mutex_t pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t pthread_mutexattr_t;
typedef struct _opaque_pthread_cond_t pthread_cond_t;
typedef struct _opaque_pthread_condattr_t pthread_condattr_t;
typedef unsigned long pthread_key_t;
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *_Nullable);
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *_Nullable);
int pthread_cond_destroy(pthread_cond_t *);
int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *_Nullable);
int pthread_cond_timedwait_relative_np(pthread_cond_t *, pthread_mutex_t *, const struct timespec *_Nullable);
int pthread_cond_signal(pthread_cond_t *);
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *_Nullable), void *_Nullable);
int pthread_detach(pthread_t);
int pthread_sigmask(int, const sigset_t *_Nullable, sigset_t *_Nullable);
pthread_t pthread_self(void);
int pthread_atfork(void (*_Nullable)(void), void (*_Nullable)(void), void (*_Nullable)(void));
int pthread_key_create(pthread_key_t *, void (*_Nullable)(void *));
void *_Nullable pthread_getspecific(pthread_key_t);
int pthread_setspecific(pthread_key_t, const void *_Nullable);
#pragma clang assume_nonnull end
#pragma clang attribute pop
