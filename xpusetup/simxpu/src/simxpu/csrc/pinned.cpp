// Host memory that counts as pinned: nothing has to be locked here, but PyTorch asks which memory it is.
#include "simxpu.h"

#include <c10/core/CPUAllocator.h>

#include <map>
#include <memory>
#include <mutex>

namespace simxpu {
namespace {

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* memory = new c10::DataPtr(c10::GetCPUAllocator()->allocate(bytes));
    void* const data = memory->get();
    std::lock_guard lock(mutex_);
    if (data != nullptr) ends_[data] = static_cast<const char*>(data) + bytes;
    return {data, memory, &release, c10::kCPU};
  }

  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }

  bool owns(const void* data) {
    std::lock_guard lock(mutex_);
    const auto after = ends_.upper_bound(data);
    return after != ends_.begin() && data < std::prev(after)->second;
  }

 private:
  static void release(void* context);

  std::mutex mutex_;
  std::map<const void*, const void*> ends_;
};

// Never destroyed, as the device's own.
Allocator& instance() {
  static auto* const allocator = new Allocator;
  return *allocator;
}

void Allocator::release(void* context) {
  const std::unique_ptr<c10::DataPtr> memory(static_cast<c10::DataPtr*>(context));
  std::lock_guard lock(instance().mutex_);
  instance().ends_.erase(memory->get());
}

}  // namespace

c10::Allocator* pinned_allocator() { return &instance(); }

bool is_pinned(const void* data) { return instance().owns(data); }

}  // namespace simxpu
