// The one device, and what PyTorch asks about it: count, current device, streams, random numbers.
#include "simxpu.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace simxpu {
namespace {

const at::Device device0(at::kPrivateUse1, 0);

// PyTorch's CPU operators take a generator of the CPU only, so ours holds one and hands it out.
struct Generator final : c10::GeneratorImpl {
  explicit Generator(at::Generator cpu)
      : GeneratorImpl(device0, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)), host(std::move(cpu)) {}

  void set_current_seed(uint64_t seed) override { host.set_current_seed(seed); }
  uint64_t current_seed() const override { return host.current_seed(); }
  uint64_t seed() override { return host.seed(); }
  void set_offset(uint64_t offset) override { host.set_offset(offset); }
  uint64_t get_offset() const override { return host.get_offset(); }
  void set_state(const c10::TensorImpl& state) override { host.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return host.unsafeGetGeneratorImpl()->get_state(); }
  Generator* clone_impl() const override { return new Generator(host.clone()); }

  at::Generator host;
};

at::Generator make_generator() { return at::make_generator<Generator>(at::detail::createCPUGenerator()); }

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return isAvailable(); }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex index) const override { check_index(index); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override { return check_index(index), 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override { return check_index(index), 0; }
  at::Device getDeviceFromPtr(void*) const override { return device0; }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    return check_index(index), default_generator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override { return check_index(index), make_generator(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);
  }
};

using Clock = std::chrono::steady_clock;

// Work is done when the call returns, so one stream is enough and no event is ever waited for: it is a time.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return at::kPrivateUse1; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }
  at::Device getDevice() const override { return device0; }
  at::Device exchangeDevice(at::Device device) const override { return check_index(device.index()), device0; }
  void setDevice(at::Device device) const override { check_index(device.index()); }
  void uncheckedSetDevice(at::Device) const noexcept override {}
  c10::DeviceCapability getDeviceCapability(at::Device) const override { return {}; }
  c10::Stream getStream(at::Device) const override { return c10::Stream(c10::Stream::DEFAULT, device0); }
  c10::Stream getDefaultStream(at::Device device) const override { return getStream(device); }
  c10::Stream getStreamFromGlobalPool(at::Device device, bool) const override { return getStream(device); }
  c10::Stream getNewStream(at::Device device, int) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { wait_for_device(); }
  void synchronizeDevice(c10::DeviceIndex index) const override { check_index(index), wait_for_device(); }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) *event = new Clock::time_point;
    *static_cast<Clock::time_point*>(*event) = Clock::now();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Clock::time_point*>(event);
  }
  double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override {
    const auto time = *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(begin);
    return std::chrono::duration<double, std::milli>(time).count();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

[[maybe_unused]] const bool hooks_registered = (at::RegisterPrivateUse1HooksInterface(new Hooks), true);

}  // namespace

bool has_fault(std::string_view name) {
  static const std::string fault = [] {
    const char* value = std::getenv("SIMXPU_FAULT");
    return std::string(value == nullptr ? "" : value);
  }();
  return fault == name;
}

c10::DeviceIndex device_count() { return has_fault("no-device") ? 0 : 1; }

void check_index(c10::DeviceIndex index) {
  TORCH_CHECK(device_count() > 0, "simxpu: no device was found");
  TORCH_CHECK(index < device_count(), "simxpu: there is no device ", static_cast<int>(index), ", the only one is 0");
}

void wait_for_device() {
  while (has_fault("hang")) std::this_thread::sleep_for(std::chrono::hours(1));
}

const at::Generator& default_generator() {
  static const auto* const generator = new at::Generator(make_generator());
  return *generator;
}

at::Generator host_generator(const at::Generator& generator) { return generator.get<Generator>()->host; }

}  // namespace simxpu
