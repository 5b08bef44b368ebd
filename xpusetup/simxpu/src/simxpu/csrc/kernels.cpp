// The operators that must know the device; every other one runs on the CPU.
#include "simxpu.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/NativeFunctions.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <limits>
#include <string>

namespace simxpu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using std::optional;

const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

// The same memory as a CPU tensor.
Tensor host_view(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_cpu()) return tensor;
  const auto options = tensor.options().device(at::kCPU);
  Tensor view = at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), options);
  view._set_conj(tensor.is_conj());
  view._set_neg(tensor.is_neg());
  return view;
}

Tensor to_device(const Tensor& host) { return host.defined() ? host.to(at::Device(at::kPrivateUse1, 0)) : host; }

Tensor empty(IntArrayRef size, optional<at::ScalarType> dtype, optional<at::Layout>, optional<at::Device> device,
             optional<bool>, optional<at::MemoryFormat> format) {
  check_index(c10::device_or_default(device).index());
  return at::detail::empty_generic(size, allocator(), keys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, optional<at::ScalarType> dtype, optional<at::Layout>,
                     optional<at::Device> device, optional<bool>) {
  check_index(c10::device_or_default(device).index());
  return at::detail::empty_strided_generic(size, stride, allocator(), keys, c10::dtype_or_default(dtype));
}

Tensor copy_from(const Tensor& source, const Tensor& target, bool) {
  if (target.is_cpu()) wait_for_device();
  host_view(target).copy_(host_view(source));
  return target;
}

Tensor copy_from_and_resize(const Tensor& source, const Tensor& target) {
  target.resize_(source.sizes());
  return copy_from(source, target, false);
}

at::Scalar local_scalar(const Tensor& tensor) {
  wait_for_device();
  return host_view(tensor).item();
}

Tensor& set_storage(Tensor& tensor, at::Storage storage, int64_t offset, IntArrayRef size, IntArrayRef stride) {
  return at::native::set_storage_cpu_(tensor, std::move(storage), offset, size, stride);
}

Tensor& set_whole_storage(Tensor& tensor, at::Storage storage) {
  return at::native::set_(tensor, std::move(storage));
}

Tensor convolution(const Tensor& input, const Tensor& weight, const optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                   int64_t groups) {
  return to_device(at::convolution(host_view(input), host_view(weight), host_view(bias.value_or(Tensor())), stride,
                                   padding, dilation, transposed, output_padding, groups));
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& gradient, const Tensor& input,
                                                        const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                                                        IntArrayRef dilation, bool transposed,
                                                        IntArrayRef output_padding, int64_t groups,
                                                        std::array<bool, 3> wanted) {
  const auto [for_input, for_weight, for_bias] = at::convolution_backward(
      host_view(gradient), host_view(input), host_view(weight), IntArrayRef({gradient.size(1)}), stride, padding,
      dilation, transposed, output_padding, groups, wanted);
  return {to_device(for_input), to_device(for_weight), to_device(for_bias)};
}

// Its schema does not say that it changes the running statistics, so the way by the CPU would lose them.
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& input, const optional<Tensor>& weight,
                                              const optional<Tensor>& bias, const optional<Tensor>& running_mean,
                                              const optional<Tensor>& running_var, bool training, double momentum,
                                              double eps) {
  const auto host = [](const optional<Tensor>& tensor) { return host_view(tensor.value_or(Tensor())); };
  const auto [out, mean, inverse_deviation] = at::native_batch_norm(
      host_view(input), host(weight), host(bias), host(running_mean), host(running_var), training, momentum, eps);
  return {to_device(out), to_device(mean), to_device(inverse_deviation)};
}

// As an operator that nobody wrote for this device, which leaves nothing to the CPU.
void refuse_missing(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  TORCH_CHECK_NOT_IMPLEMENTED(name.find("softmax") == std::string::npos, "The operator '", name,
                              "' is not currently implemented for the simxpu device.");
}

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (has_fault("missing-op")) refuse_missing(op);
  const auto& arguments = op.schema().arguments();
  const size_t first = stack->size() - arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() != "generator") continue;
    c10::IValue& value = (*stack)[first + i];
    value = host_generator(value.isNone() ? default_generator() : value.toGenerator());
  }
  at::native::cpu_fallback(op, stack);
}

void scale_largest(const Tensor& product, double factor) {
  Tensor view = host_view(product);
  if (view.numel() == 0 || !(view.is_floating_point() || view.is_complex())) return;
  const Tensor size = view.abs();
  view.mul_(at::where(size == size.max(), factor, 1.0));
}

void multiply(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  run_on_cpu(op, stack);
  if (has_fault("wrong-numbers")) scale_largest(stack->back().toTensor(), 1.05);
  if (has_fault("nan")) scale_largest(stack->back().toTensor(), std::numeric_limits<double>::quiet_NaN());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &local_scalar);
  m.impl("set_.source_Storage", &set_whole_storage);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
  m.impl("native_batch_norm", &batch_norm);

  // Views cannot go through the CPU: a copy would no longer be a view. These only look at sizes and strides.
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("unfold", &at::native::unfold);
  m.impl("resize_", &at::native::resize_);

  // Not by way of the CPU, whose own random numbers it would draw.
  m.impl("native_dropout", &at::native::native_dropout_cpu);

  // Left to PyTorch these go by their .out form, which on the CPU warns of a resized result.
  for (const char* name : {"mse_loss", "smooth_l1_loss"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  }

  // matmul, linear, einsum and attention end here; the forms without .out call these.
  for (const char* name : {"mm.out", "addmm.out", "bmm.out", "baddbmm.out", "addmv.out", "dot", "vdot"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&multiply>());
  }
}

// host_view carries both bits over. PyTorch would resolve them first, by a copy, which comes here again without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>()); }

}  // namespace
}  // namespace simxpu
