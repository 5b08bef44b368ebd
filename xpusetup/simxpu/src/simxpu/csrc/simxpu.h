#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>

#include <string_view>

namespace simxpu {

// True where SIMXPU_FAULT, as it was when the extension was loaded, is this name of ../faults.py.
bool has_fault(std::string_view name);

c10::DeviceIndex device_count();

// Throws where there is no such device; an index of -1 means the current one.
void check_index(c10::DeviceIndex index);

// Returns when all work on the device is done, so at once, except where it hangs.
void wait_for_device();

c10::DeviceAllocator* allocator();

c10::Allocator* pinned_allocator();

// True where the memory came from pinned_allocator.
bool is_pinned(const void* data);

const at::Generator& default_generator();

// The CPU generator that does the work of one of ours.
at::Generator host_generator(const at::Generator& generator);

}  // namespace simxpu
