#include <Python.h>

#include "LLVMSPIRVLib.h"
#include "llvm/llvm.h"
#include "pybind11/pybind11.h"

static PyObject* backend(PyObject*, PyObject*) {
  return PyUnicode_FromFormat("%s, %s, %s", translator(), LLVM_REV, PYBIND11_VERSION);
}

static PyMethodDef methods[] = {
    {"backend", backend, METH_NOARGS, "What it was built from"},
    {nullptr, nullptr, 0, nullptr}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "libtriton", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_libtriton() {
  return PyModule_Create(&module);
}
