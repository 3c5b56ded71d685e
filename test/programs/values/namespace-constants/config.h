#pragma once
namespace config {
constexpr int threads = 256;
static const unsigned blocks = 1u << 4;
struct Shape {
  enum { narrow = threads, wide = 2 * threads };
};
}  // namespace config
