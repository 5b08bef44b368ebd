#define SPIRV_VERSION "1.6"
