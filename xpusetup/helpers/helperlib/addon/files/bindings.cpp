// The module of Python: redirects torch's look-up of kernels, and gives torch._C what a torch with XPU has there.
#include <torch/csrc/python_headers.h>
#include <torch/csrc/xpu/Event.h>
#include <torch/csrc/xpu/Module.h>
#include <torch/csrc/xpu/Stream.h>

namespace at::native {
const char* xpu_addon_redirect(const char* libtorch_cpu);
}

namespace {

// redirect(PATH of libtorch_cpu.so): raises RuntimeError where it cannot be done; nothing is changed then.
PyObject* redirect(PyObject*, PyObject* path) {
  const char* name = PyUnicode_AsUTF8(path);
  if (name == nullptr) {
    return nullptr;
  }
  if (const char* why = at::native::xpu_addon_redirect(name)) {
    PyErr_SetString(PyExc_RuntimeError, why);
    return nullptr;
  }
  Py_RETURN_NONE;
}

// bind(torch._C): the functions and classes of torch/csrc/xpu.
PyObject* bind(PyObject*, PyObject* torch_c) {
  if (PyModule_AddFunctions(torch_c, THXPModule_methods()) != 0) {
    return nullptr;
  }
  THXPStream_init(torch_c);
  THXPEvent_init(torch_c);
  torch::xpu::initModule(torch_c);
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"redirect", redirect, METH_O, nullptr},
    {"bind", bind, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_bindings", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit__bindings() {
  return PyModule_Create(&definition);
}
