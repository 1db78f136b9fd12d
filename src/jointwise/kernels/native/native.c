/* Calls from Python into the kernels of the native library.

Every kernel takes one array of 64-bit slots: its results, then its arguments. A format, from the
table in entry_points.py, says how Python's arguments fill the slots:

    d  i  ?      a float, an integer, a boolean: one slot
    d2 i1 ?1 u1  an array of float64, int64, bool or uint8, contiguous: its address, its lengths
    ( )          a tuple, whose fields follow each other
    w            a tuple of 1, 2 or 4 floats; its length chooses among three kernels

entries.h has the table, and is written by build.py. The GIL is released while a kernel runs. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef union {
    double real;
    int64_t integer;
    void *address;
} Slot;

typedef int32_t (*Kernel)(Slot *slots);

typedef struct {
    const char *name, *arguments, *results;
    /* By the number of weights, the first where there are none; the second row is for processors
       with AVX-512, of what is faster there. */
    Kernel kernels[2][11];
} Entry;

#include "entries.h"

enum { RESULTS = 8, MAX_SLOTS = 96, MAX_ARRAYS = 24 };

typedef struct {
    Slot slots[MAX_SLOTS];
    Py_buffer arrays[MAX_ARRAYS];
    int slot_count, array_count, weight_count;
} Call;

static int has_avx512 = 0;

#ifdef __x86_64__
/* The first feature of x86-64-v3 that the processor lacks, or "". */
static const char *check_features(void)
{
    __builtin_cpu_init();
    has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl");
    return !__builtin_cpu_supports("avx2")   ? "AVX2"
           : !__builtin_cpu_supports("fma")  ? "FMA"
           : !__builtin_cpu_supports("bmi")  ? "BMI1"
           : !__builtin_cpu_supports("bmi2") ? "BMI2"
                                             : "";
}
#else
static const char *check_features(void)
{
    return "";
}
#endif

static PyObject *missing_feature(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyUnicode_FromString(check_features());
}

static int read_array(Call *call, PyObject *value, char kind, int axes)
{
    Py_buffer *array = &call->arrays[call->array_count];
    if (PyObject_GetBuffer(value, array, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return -1;
    call->array_count++;
    /* An array that is not aligned has a byte order in its format; processors here read both. */
    const char *format = array->format + (strchr("@=<", array->format[0]) != NULL);
    char given = format[0];
    int fits = kind == 'd' ? given == 'd'
             : kind == 'i' ? (given == 'l' || given == 'q') && array->itemsize == 8
             : kind == '?' ? given == '?'
                           : given == 'B';
    if (!fits || format[1] || array->ndim != axes) {
        PyErr_Format(PyExc_TypeError, "array of type %s with %d axes: expected %c with %d",
                     array->format, array->ndim, kind, axes);
        return -1;
    }
    call->slots[call->slot_count++].address = array->buf;
    for (int axis = 0; axis < axes; axis++)
        call->slots[call->slot_count++].integer = array->shape[axis];
    return 0;
}

static int read_number(Call *call, PyObject *value, char kind)
{
    Slot *slot = &call->slots[call->slot_count++];
    if (kind == 'd') {
        slot->real = PyFloat_AsDouble(value);
        return slot->real == -1.0 && PyErr_Occurred() ? -1 : 0;
    }
    if (kind == '?') {
        int truth = PyObject_IsTrue(value);
        slot->integer = truth;
        return truth < 0 ? -1 : 0;
    }
    PyObject *integer = PyNumber_Index(value);
    if (!integer)
        return -1;
    slot->integer = PyLong_AsLongLong(integer);
    Py_DECREF(integer);
    return slot->integer == -1 && PyErr_Occurred() ? -1 : 0;
}

static const char *read_argument(Call *call, PyObject *value, const char *format);

static const char *read_tuple(Call *call, PyObject *value, const char *format)
{
    Py_ssize_t index = 0;
    while (*format != ')') {
        PyObject *field = PyTuple_GetItem(value, index++);
        if (!field || !(format = read_argument(call, field, format)))
            return NULL;
    }
    return format + 1;
}

/* Fill the slots of one argument; the rest of the format, or NULL after an error. */
static const char *read_argument(Call *call, PyObject *value, const char *format)
{
    char kind = *format++;
    if (kind == '(')
        return read_tuple(call, value, format);
    if (kind == 'w') {
        Py_ssize_t count = PyTuple_Size(value);
        if (count != 1 && count != 2 && count != 4 && count != 10) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "expected 1, 2, 4 or 10 weights");
            return NULL;
        }
        call->weight_count = (int)count;
        for (Py_ssize_t k = 0; k < count; k++)
            if (read_number(call, PyTuple_GetItem(value, k), 'd') < 0)
                return NULL;
        return format;
    }
    if (*format >= '1' && *format <= '9')
        return read_array(call, value, kind, *format - '0') < 0 ? NULL : format + 1;
    return read_number(call, value, kind) < 0 ? NULL : format;
}

static PyObject *to_python(const Slot *slot, char kind)
{
    return kind == 'd'   ? PyFloat_FromDouble(slot->real)
           : kind == '?' ? PyBool_FromLong((long)slot->integer)
                         : PyLong_FromLongLong(slot->integer);
}

static PyObject *results_of(const Call *call, const char *kinds)
{
    Py_ssize_t count = (Py_ssize_t)strlen(kinds);
    if (count == 0)
        Py_RETURN_NONE;
    if (count == 1)
        return to_python(call->slots, kinds[0]);
    PyObject *results = PyTuple_New(count);
    for (Py_ssize_t k = 0; results && k < count; k++) {
        PyObject *value = to_python(&call->slots[k], kinds[k]);
        if (!value || PyTuple_SetItem(results, k, value) < 0)
            Py_CLEAR(results);
    }
    return results;
}

static PyObject *call_kernel(PyObject *self, PyObject *const *values, Py_ssize_t count)
{
    const Entry *entry = PyCapsule_GetPointer(self, NULL);
    Call call;
    call.slot_count = RESULTS;
    call.array_count = call.weight_count = 0;
    const char *format = entry->arguments;
    PyObject *results = NULL;
    for (Py_ssize_t k = 0; k < count && *format; k++)
        if (!(format = read_argument(&call, values[k], format)))
            goto release;
    if (*format) {
        PyErr_Format(PyExc_TypeError, "%s: arguments are missing, %zd given", entry->name, count);
        goto release;
    }
    Kernel kernel = entry->kernels[has_avx512][call.weight_count];
    if (!kernel)
        kernel = entry->kernels[0][call.weight_count];
    int32_t status;
    PyThreadState *state = PyEval_SaveThread();
    status = kernel(call.slots);
    PyEval_RestoreThread(state);
    if (status)
        PyErr_NoMemory(); /* kernels raise nothing else */
    else
        results = results_of(&call, entry->results);
release:
    for (int k = 0; k < call.array_count; k++)
        PyBuffer_Release(&call.arrays[k]);
    return results;
}

/* Memory of arrays inside kernels, as Numba's code expects it; build.py checks the layout. */
typedef struct MemInfo {
    size_t references;
    void (*destroy)(void *data, size_t size, void *info);
    void *info, *data;
    size_t size;
    void *allocator;
} MemInfo;

__attribute__((visibility("hidden"))) void *
NRT_MemInfo_alloc_aligned(size_t size, uint32_t alignment)
{
    if (size > SIZE_MAX - sizeof(MemInfo) - alignment)
        return NULL;
    MemInfo *memory = malloc(sizeof(MemInfo) + size + alignment);
    if (!memory)
        return NULL;
    uintptr_t first = (uintptr_t)(memory + 1), past = alignment ? first % alignment : 0;
    void *data = (void *)(first + (past ? alignment - past : 0));
    *memory = (MemInfo){1, NULL, NULL, data, size, NULL};
    return memory;
}

__attribute__((visibility("hidden"))) void NRT_MemInfo_call_dtor(void *memory)
{
    free(memory);
}

static PyMethodDef method = {"kernel", (PyCFunction)(void (*)(void))call_kernel, METH_FASTCALL, NULL};

static int add_entries(PyObject *module)
{
    check_features();
    for (const Entry *entry = ENTRIES; entry->name; entry++) {
        PyObject *self = PyCapsule_New((void *)entry, NULL, NULL);
        PyObject *function = self ? PyCFunction_New(&method, self) : NULL;
        Py_XDECREF(self);
        if (!function || PyModule_AddObjectRef(module, entry->name, function) < 0) {
            Py_XDECREF(function);
            return -1;
        }
        Py_DECREF(function);
    }
    return 0;
}

static PyMethodDef functions[] = {
    {"missing_feature", missing_feature, METH_NOARGS, "A feature that the processor lacks, or ''."},
    {0},
};
static PyModuleDef_Slot steps[] = {{Py_mod_exec, add_entries}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, 0, functions, steps, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
