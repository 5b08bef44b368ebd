#include <Python.h>

#include "LLVMSPIRVLib.h"
#include "llvm/llvm.h"
#include "pybind11/detail/common.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static PyObject* backend(PyObject*, PyObject*) {
  return PyUnicode_FromFormat("%s, %s, %s", translator(), LLVM_REV,
                              TEXT(PYBIND11_VERSION_MAJOR) "." TEXT(PYBIND11_VERSION_MINOR));
}

static PyMethodDef methods[] = {
    {"backend", backend, METH_NOARGS, "What it was built from"},
    {nullptr, nullptr, 0, nullptr}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "libtriton", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_libtriton() {
  return PyModule_Create(&module);
}
