// What Python cannot reach through torch.accelerator.
#include "simxpu.h"

#include <torch/csrc/utils/pybind.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("device_count", [] { return static_cast<int>(simxpu::device_count()); });
  module.def("default_generator", &simxpu::default_generator);
}
