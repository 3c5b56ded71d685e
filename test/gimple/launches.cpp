// What cudafe++ makes of launches, written by hand: GCC's dump of it is launches.gimple. Made anew by
// gcc -O0 -fwrapv -g -S -fdump-tree-ssa-raw-lineno-asmname-blocks-eh-uid=launches.gimple launches.cpp -o /dev/null
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, unsigned long bytes = 0, void *stream = nullptr);
struct Plan {
  int rows;
  virtual ~Plan();
  virtual int blocks() const;
};
void scale(float *a, int n, float factor);
void fill(float *a);
int count();

void run(float *a, int n, const Plan &plan, const int *sizes) {
  dim3 grid((n + 255) / 256, 1, plan.blocks());
  __cudaPushCallConfiguration(grid, 256) ? (void)0 : scale(a, n, 2.5f);
  switch (n & 3) {
    case 0: fill(a); break;
    case 1 ... 2: n -= plan.rows; break;
    default: n = sizes[n]; break;
  }
  void (*kernel)(float *, int, float) = n > 5 ? scale : nullptr;
  for (int i = 0; i < n; i++) {
    int size = count();
    __cudaPushCallConfiguration(size, dim3(32, 8)) ? (void)0 : kernel(a + i, size, -1.0f);
  }
  if (n < 0) throw n;
}
