#include <Python.h>

static PyObject* backend(PyObject*, PyObject*) {
  return PyUnicode_FromString("xpu");
}

static PyMethodDef methods[] = {
    {"backend", backend, METH_NOARGS, "The back end compiled in"},
    {nullptr, nullptr, 0, nullptr}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_libtriton", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__libtriton() {
  return PyModule_Create(&module);
}
