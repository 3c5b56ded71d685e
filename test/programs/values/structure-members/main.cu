// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:22 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:23 block=512 grid=16

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

struct Shape {
  int threads;
  int blocks;
};

struct Plan {
  Shape shape = {256, 16};
  float* data = nullptr;
};

static void scale(const Plan& plan) { scaleChunk<<<plan.shape.blocks, plan.shape.threads>>>(plan.data); }
static void halve(const Plan* plan) { halveChunk<<<plan->shape.blocks, plan->shape.threads>>>(plan->data); }

void run(float* a) {
  Plan plan;
  plan.data = a;
  scale(plan);
  plan.shape.threads = 2 * plan.shape.threads;
  halve(&plan);
}

