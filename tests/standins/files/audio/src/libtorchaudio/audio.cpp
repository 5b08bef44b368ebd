#include <Python.h>
#include <c10/core.h>

static PyObject* describe(PyObject*, PyObject*) {
  return PyUnicode_FromString(c10::describe("torchaudio").c_str());
}

static PyMethodDef methods[] = {
    {"describe", describe, METH_NOARGS, "What this was built of"},
    {nullptr, nullptr, 0, nullptr}};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_torchaudio", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__torchaudio() {
  return PyModule_Create(&module);
}
