// Batch norm on the CPU, where its kernels are left out. The fallback would lose the running statistics: the operator
// changes them, and its signature does not say so, so that what was changed on the CPU is not brought back.
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

std::optional<at::Tensor> to_cpu(const std::optional<at::Tensor>& tensor) {
  if (tensor && tensor->defined()) {
    return tensor->cpu();
  }
  return std::nullopt;
}

void bring_back(const std::optional<at::Tensor>& tensor, const std::optional<at::Tensor>& changed) {
  if (changed) {
    at::Tensor(*tensor).copy_(*changed);
  }
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_variance,
    bool training,
    double momentum,
    double epsilon) {
  auto mean = to_cpu(running_mean);
  auto variance = to_cpu(running_variance);
  auto [output, saved_mean, saved_inverse] = at::native_batch_norm(
      input.cpu(), to_cpu(weight), to_cpu(bias), mean, variance, training, momentum, epsilon);
  if (training) {
    bring_back(running_mean, mean);
    bring_back(running_variance, variance);
  }
  auto device = input.device();
  return {output.to(device), saved_mean.to(device), saved_inverse.to(device)};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XPU, library) {
  library.impl("native_batch_norm", native_batch_norm);
}
