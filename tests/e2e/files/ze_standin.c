/* Stand-in for the Level Zero loader with Intel's own header: a card with two banks of memory, or what FAULT asks for. */
#include <level_zero/ze_api.h>
#include <stdlib.h>
#include <string.h>

static const char *fault(void) {
  const char *text = getenv("ZE_STANDIN_FAULT");
  return text ? text : "";
}

ze_result_t zeInit(ze_init_flags_t flags) {
  (void)flags;
  if (!strcmp(fault(), "crash")) abort();
  return strcmp(fault(), "dependency") ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
}

ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
  if (drivers) drivers[0] = (ze_driver_handle_t)0x10;
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *seen) {
  if (driver != (ze_driver_handle_t)0x10 || seen->stype != ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  seen->driverVersion = 17008466;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices) {
  if (driver != (ze_driver_handle_t)0x10) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  *count = strcmp(fault(), "no-device") ? 1 : 0;
  if (devices) devices[0] = (ze_device_handle_t)0x20;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *seen) {
  if (device != (ze_device_handle_t)0x20 || seen->stype != ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  seen->type = ZE_DEVICE_TYPE_GPU;
  seen->vendorId = 0x8086;
  seen->deviceId = 0xe20b;
  for (int place = 0; place < ZE_MAX_DEVICE_UUID_SIZE; place++) seen->uuid.id[place] = (uint8_t)place;
  strcpy(seen->name, "Intel(R) Arc(TM) B580 Graphics");
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count, ze_device_memory_properties_t *banks) {
  if (device != (ze_device_handle_t)0x20) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  for (uint32_t place = 0; banks && place < *count; place++) {
    if (banks[place].stype != ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    banks[place].totalSize = (uint64_t)6 << 30;
  }
  *count = 2;
  return ZE_RESULT_SUCCESS;
}
