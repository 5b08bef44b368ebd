// Device memory is host memory, counted, and limited as that of a device is.
#include "simxpu.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

namespace simxpu {
namespace {

constexpr size_t total_bytes = size_t{16} << 30;
constexpr size_t most_at_once_where_oom = size_t{1} << 20;

struct Block {
  at::DataPtr memory;
  size_t bytes;
};

class Allocator final : public c10::DeviceAllocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    // Here and not later: with a tensor on a device that does not exist autograd stops at an internal assertion.
    check_index(0);
    std::lock_guard lock(mutex_);
    TORCH_CHECK_WITH(OutOfMemoryError, bytes <= most_at_once(), "simxpu: out of memory: ", bytes, " bytes wanted, ",
                     free_bytes(), " of ", total_bytes, " are free");
    auto* block = new Block{c10::GetCPUAllocator()->allocate(bytes), bytes};
    for (auto* stat : stats()) stat->increase(bytes);
    return {block->memory.get(), block, &release, at::Device(at::kPrivateUse1, 0)};
  }

  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void resetAccumulatedStats(c10::DeviceIndex) override {
    std::lock_guard lock(mutex_);
    for (auto* stat : stats()) stat->reset_accumulated();
  }

  void resetPeakStats(c10::DeviceIndex) override {
    std::lock_guard lock(mutex_);
    for (auto* stat : stats()) stat->reset_peak();
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    check_index(index);
    std::lock_guard lock(mutex_);
    return {free_bytes(), total_bytes};
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const at::DataPtr&, c10::Stream) override {}

 private:
  static void release(void* context);

  // There is no cache, so what is allocated and what is reserved are the same.
  std::array<c10::CachingAllocator::Stat*, 2> stats() {
    return {&stats_.allocated_bytes[0], &stats_.reserved_bytes[0]};
  }

  size_t free_bytes() const { return total_bytes - static_cast<size_t>(stats_.allocated_bytes[0].current); }

  size_t most_at_once() const {
    return has_fault("oom") ? std::min(most_at_once_where_oom, free_bytes()) : free_bytes();
  }

  std::mutex mutex_;
  c10::CachingDeviceAllocator::DeviceStats stats_;
};

// Never destroyed: the last tensors of a process are released after its static objects.
Allocator& instance() {
  static auto* const allocator = new Allocator;
  return *allocator;
}

void Allocator::release(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  std::lock_guard lock(instance().mutex_);
  for (auto* stat : instance().stats()) stat->decrease(block->bytes);
}

REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &instance())

}  // namespace

c10::DeviceAllocator* allocator() { return &instance(); }

}  // namespace simxpu
