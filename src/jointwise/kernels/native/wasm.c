/* What kernels need in WebAssembly, where there is no C library: memory, and wide products.

Memory is a stack. The caller takes what its arguments need with allocate, and gives back all that
was taken after a mark, also by kernels, with release. Addresses have 32 bits, sizes 64: Numba's
code was made for 64-bit machines, and its addresses alone have become shorter. */

#include <stddef.h>
#include <stdint.h>

enum { ALIGNMENT = 64, PAGE = 65536 };

typedef struct {
    int64_t references;
    void *destroy, *info, *data;
    int64_t size;
} MemInfo;

extern unsigned char __heap_base;
static uintptr_t top = 0;

__attribute__((export_name("mark"))) uintptr_t mark(void)
{
    return top ? top : (top = (uintptr_t)&__heap_base);
}

__attribute__((export_name("release"))) void release(uintptr_t marked)
{
    top = marked;
}

__attribute__((export_name("allocate"))) void *allocate(uint32_t size)
{
    uintptr_t begin = (mark() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t end = (uint64_t)begin + size, there = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
    if (end > there &&
        __builtin_wasm_memory_grow(0, (size_t)((end - there) / PAGE + 1)) == (size_t)-1)
        return NULL;
    top = (uintptr_t)end;
    return (void *)begin;
}

void *NRT_MemInfo_alloc_aligned(uint64_t size, uint32_t alignment)
{
    (void)alignment; /* at most ALIGNMENT */
    MemInfo *memory = size < UINT32_MAX - ALIGNMENT ? allocate((uint32_t)size + ALIGNMENT) : NULL;
    if (memory)
        *memory = (MemInfo){1, NULL, NULL, (char *)memory + ALIGNMENT, (int64_t)size};
    return memory;
}

void NRT_MemInfo_call_dtor(void *memory)
{
    (void)memory; /* release gives it back */
}

double sqrt(double x)
{
    return __builtin_sqrt(x);
}

/* A product of 128 bits, to find sizes that overflow. */
__int128 __multi3(__int128 a, __int128 b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (uint32_t)middle;
    uint64_t high = x1 * y1 + (middle >> 32) + (other >> 32) +
                    x * (uint64_t)((unsigned __int128)b >> 64) +
                    y * (uint64_t)((unsigned __int128)a >> 64);
    return (__int128)((unsigned __int128)high << 64 | (other << 32 | (uint32_t)low));
}
