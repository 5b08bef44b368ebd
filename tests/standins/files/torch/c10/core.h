#pragma once
#include <string>

namespace c10 {
// A std::string in the name of a symbol: how the C++ ABI of a wheel is read.
std::string describe(const std::string& what);
// Where this was compiled: two folders give two libraries unless -ffile-prefix-map says otherwise.
const char* compiled_from();
}  // namespace c10
