// Convolution on the CPU. There is no oneDNN in an add-on, and torch-xpu-ops' fallback cannot bring these two there:
// on the CPU they are functions that raise.
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

at::Tensor to_cpu(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.cpu() : tensor;
}

at::Tensor to_device(const at::Tensor& tensor, at::Device device) {
  return tensor.defined() ? tensor.to(device) : tensor;
}

at::Tensor convolution(
    const at::Tensor& input,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& bias,
    c10::SymIntArrayRef stride,
    c10::SymIntArrayRef padding,
    c10::SymIntArrayRef dilation,
    bool transposed,
    c10::SymIntArrayRef output_padding,
    c10::SymInt groups) {
  std::optional<at::Tensor> cpu_bias;
  if (bias && bias->defined()) {
    cpu_bias = bias->cpu();
  }
  auto result = at::convolution_symint(
      to_cpu(input), to_cpu(weight), cpu_bias, stride, padding, dilation, transposed, output_padding, groups);
  return result.to(input.device());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& gradient,
    const at::Tensor& input,
    const at::Tensor& weight,
    c10::SymIntArrayRef stride,
    c10::SymIntArrayRef padding,
    c10::SymIntArrayRef dilation,
    bool transposed,
    c10::SymIntArrayRef output_padding,
    c10::SymInt groups,
    std::array<bool, 3> wanted) {
  std::vector<c10::SymInt> bias_sizes = {gradient.sym_size(1)};
  auto [of_input, of_weight, of_bias] = at::convolution_backward_symint(
      to_cpu(gradient), to_cpu(input), to_cpu(weight), at::OptionalSymIntArrayRef(bias_sizes), stride, padding,
      dilation, transposed, output_padding, groups, wanted);
  auto device = input.device();
  return {to_device(of_input, device), to_device(of_weight, device), to_device(of_bias, device)};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XPU, library) {
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
}
