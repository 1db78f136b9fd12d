/* The names of Python's stable ABI (3.11) that native.c uses.

With them the library is compiled for any system, without Python's header files. On Windows the
library imports from python3.dll what is declared with IMPORT; link.py reads these lines. */

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define IMPORT __declspec(dllimport)
#define EXPORT __declspec(dllexport)
#else
#define IMPORT
#define EXPORT __attribute__((visibility("default")))
#endif

typedef intptr_t Py_ssize_t;
typedef struct PyThreadState PyThreadState;
typedef struct PyObject {
    Py_ssize_t ob_refcnt;
    void *ob_type;
} PyObject;
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef struct {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;
typedef struct {
    int slot;
    void *value;
} PyModuleDef_Slot;
typedef struct {
    PyObject ob_base;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    void *m_traverse, *m_clear, *m_free;
} PyModuleDef;

#define PyModuleDef_HEAD_INIT {1, NULL}, NULL, 0, NULL
enum {
    METH_NOARGS = 4,
    METH_FASTCALL = 0x80,
    Py_mod_exec = 2,
    PyBUF_FORMAT = 4,
    PyBUF_C_CONTIGUOUS = 0x38
};

IMPORT extern PyObject *PyExc_TypeError;
IMPORT extern PyObject _Py_NoneStruct;
IMPORT PyObject *PyBool_FromLong(long);
IMPORT void PyBuffer_Release(Py_buffer *);
IMPORT PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
IMPORT void *PyCapsule_GetPointer(PyObject *, const char *);
IMPORT PyObject *PyCapsule_New(void *, const char *, void *);
IMPORT PyObject *PyErr_Format(PyObject *, const char *, ...);
IMPORT PyObject *PyErr_NoMemory(void);
IMPORT PyObject *PyErr_Occurred(void);
IMPORT void PyErr_SetString(PyObject *, const char *);
IMPORT void PyEval_RestoreThread(PyThreadState *);
IMPORT PyThreadState *PyEval_SaveThread(void);
IMPORT double PyFloat_AsDouble(PyObject *);
IMPORT PyObject *PyFloat_FromDouble(double);
IMPORT long long PyLong_AsLongLong(PyObject *);
IMPORT PyObject *PyLong_FromLongLong(long long);
IMPORT PyObject *PyModuleDef_Init(PyModuleDef *);
IMPORT int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
IMPORT PyObject *PyNumber_Index(PyObject *);
IMPORT int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
IMPORT int PyObject_IsTrue(PyObject *);
IMPORT PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
IMPORT PyObject *PyTuple_New(Py_ssize_t);
IMPORT int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
IMPORT Py_ssize_t PyTuple_Size(PyObject *);
IMPORT PyObject *PyUnicode_FromString(const char *);
IMPORT void Py_DecRef(PyObject *);
IMPORT void Py_IncRef(PyObject *);
