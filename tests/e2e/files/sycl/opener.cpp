#include <cstdio>
#include <dlfcn.h>
int main(int count, char **names) {
  for (int i = 1; i < count; i++) {
    void *library = dlopen(names[i], RTLD_NOW);
    if (!library) return std::puts(dlerror()), 1;
    std::printf("%d\n", reinterpret_cast<int (*)(int)>(dlsym(library, "add"))(40));
    dlclose(library);
  }
}
