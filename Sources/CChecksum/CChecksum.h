// CRC-32C by instructions of the processor, which Swift cannot use. All functions are inline, so
// the package compiles no C file. See CRC32C.swift.
#ifndef CCHECKSUM_H
#define CCHECKSUM_H

typedef __UINT8_TYPE__ crc32c_byte;
typedef __UINT32_TYPE__ crc32c_word;
typedef __UINT64_TYPE__ crc32c_long;

#if defined(__x86_64__)
    #define CRC32C_INSTRUCTIONS __attribute__((target("sse4.2")))
    #define CRC32C_8(crc, bytes) ((crc32c_word)__builtin_ia32_crc32di(crc, bytes))
    #define CRC32C_4(crc, bytes) __builtin_ia32_crc32si(crc, bytes)
    #define CRC32C_1(crc, byte) __builtin_ia32_crc32qi(crc, byte)

// Asks the processor. `__builtin_cpu_supports` needs a symbol of the compiler's runtime library.
static inline int crc32c_is_available(void) {
    crc32c_word a = 1, b, c, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    return c >> 20 & 1;
}
#elif defined(__aarch64__) && __has_include(<sys/auxv.h>)
    #include <sys/auxv.h>
    #define CRC32C_ON_ARM
static inline int crc32c_is_available(void) {
    // AT_HWCAP and HWCAP_CRC32
    return getauxval(16) >> 7 & 1;
}
#elif defined(__aarch64__) && defined(__APPLE__) && __has_include(<sys/sysctl.h>)
    #include <sys/sysctl.h>
    #define CRC32C_ON_ARM
// Not every processor has it: tvOS 17 runs on an A8.
static inline int crc32c_is_available(void) {
    int value = 0;
    __SIZE_TYPE__ size = sizeof value;
    return sysctlbyname("hw.optional.armv8_crc32", &value, &size, 0, 0) == 0 && value == 1;
}
#else
static inline int crc32c_is_available(void) { return 0; }
#endif

#ifdef CRC32C_ON_ARM
    #define CRC32C_INSTRUCTIONS __attribute__((target("crc")))
    #define CRC32C_8(crc, bytes) __builtin_arm_crc32cd(crc, bytes)
    #define CRC32C_4(crc, bytes) __builtin_arm_crc32cw(crc, bytes)
    #define CRC32C_1(crc, byte) __builtin_arm_crc32cb(crc, byte)
#endif

#ifdef CRC32C_INSTRUCTIONS
// Requires `crc32c_is_available`. The bytes may have any alignment.
CRC32C_INSTRUCTIONS static inline crc32c_word crc32c(crc32c_word seed, const void *bytes, __SIZE_TYPE__ count) {
    const crc32c_byte *next = (const crc32c_byte *)bytes;
    crc32c_word crc = ~seed;
    for (; count >= 8; count -= 8, next += 8) {
        crc32c_long word;
        __builtin_memcpy(&word, next, 8);
        crc = CRC32C_8(crc, word);
    }
    if (count >= 4) {
        crc32c_word word;
        __builtin_memcpy(&word, next, 4);
        crc = CRC32C_4(crc, word);
        count -= 4, next += 4;
    }
    for (; count > 0; count--, next++) crc = CRC32C_1(crc, *next);
    return ~crc;
}
#else
static inline crc32c_word crc32c(crc32c_word seed, const void *bytes, __SIZE_TYPE__ count) {
    (void)bytes, (void)count;
    return seed;
}
#endif

// Words that threads share, and processes through mappings. Swift's own atomics need macOS 15.
static inline crc32c_long load_acquiring(const void *word) {
    return __atomic_load_n((const crc32c_long *)word, __ATOMIC_ACQUIRE);
}
static inline void store_releasing(void *word, crc32c_long value) {
    __atomic_store_n((crc32c_long *)word, value, __ATOMIC_RELEASE);
}
static inline void fence_releasing(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
