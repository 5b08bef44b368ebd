// The kernels that XPU has for the operators of a torch that was built without XPU.
//
// A stub of such a torch (at::native::DispatchStub) has no slot for XPU, and its look-up refuses the device. Every
// look-up goes through one function, which libtorch_cpu calls by an entry of its table of procedures. The entry is
// pointed at `look_up`, which answers for XPU from a table of its own and hands every other device on.
#include <ATen/native/DispatchStub.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <unordered_map>

namespace at::native {
namespace {

using LookUp = DispatchResult (*)(DispatchStubImpl*, c10::DeviceType, void*, void*, void*);
constexpr const char* kLookUp =
    "_ZN2at6native16DispatchStubImpl16try_get_call_ptrEN3c1010DeviceTypeEPvS4_S4_";
LookUp torch_look_up = nullptr;

// Filled while libraries are loaded, read after that. Never taken down: stubs are asked until the process ends.
std::unordered_map<const DispatchStubImpl*, void*>& kernels() {
  static auto* table = new std::unordered_map<const DispatchStubImpl*, void*>;
  return *table;
}

DispatchResult look_up(DispatchStubImpl* stub, c10::DeviceType device, void* plain, void* avx512, void* avx2) {
  if (device != c10::DeviceType::XPU) {
    return torch_look_up(stub, device, plain, avx512, avx2);
  }
  auto found = kernels().find(stub);
  if (found == kernels().end()) {
    return ErrorType::MissingDeviceKernel;
  }
  return found->second;
}

// The entry of a library's table of procedures for a function; null where it has none.
void** find_entry(const link_map& library, const char* function) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* jumps = nullptr;
  size_t bytes = 0;
  for (const ElfW(Dyn)* tag = library.l_ld; tag->d_tag != DT_NULL; ++tag) {
    auto address = tag->d_un.d_ptr;
    switch (tag->d_tag) {
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address); break;
      case DT_STRTAB: names = reinterpret_cast<const char*>(address); break;
      case DT_JMPREL: jumps = reinterpret_cast<const ElfW(Rela)*>(address); break;
      case DT_PLTRELSZ: bytes = tag->d_un.d_val; break;
      default: break;
    }
  }
  if (symbols == nullptr || names == nullptr || jumps == nullptr) {
    return nullptr;
  }
  for (size_t number = 0; number < bytes / sizeof(*jumps); ++number) {
    const auto& symbol = symbols[ELF64_R_SYM(jumps[number].r_info)];
    if (std::strcmp(names + symbol.st_name, function) == 0) {
      return reinterpret_cast<void**>(library.l_addr + jumps[number].r_offset);
    }
  }
  return nullptr;
}

} // namespace

// The setter of every stub, in the edited ATen/native/DispatchStub.h.
void xpu_addon_set_kernel(DispatchStubImpl* stub, void* kernel) {
  kernels()[stub] = kernel;
}

// Points the entry of libtorch_cpu at look_up. Gives what is in the way; null where it is done.
const char* xpu_addon_redirect(const char* libtorch_cpu) {
  void* library = dlopen(libtorch_cpu, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return "libtorch_cpu.so is not loaded";
  }
  link_map* map = nullptr;
  void* real = dlsym(library, kLookUp);
  if (real == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    return "libtorch_cpu.so does not export the look-up of kernels";
  }
  void** entry = find_entry(*map, kLookUp);
  if (entry == nullptr) {
    return "libtorch_cpu.so does not call the look-up of kernels by its table";
  }
  auto page = reinterpret_cast<uintptr_t>(entry) & ~static_cast<uintptr_t>(getpagesize() - 1);
  if (mprotect(reinterpret_cast<void*>(page), getpagesize(), PROT_READ | PROT_WRITE) != 0) {
    return "the table of libtorch_cpu.so cannot be written";
  }
  torch_look_up = reinterpret_cast<LookUp>(real);
  *entry = reinterpret_cast<void*>(&look_up);
  return nullptr;
}

} // namespace at::native
