// expect: flagByExchange race=proved divergence=proved
// expect: flagByExchange assumes equal-value-writes
// expect: flagByExchange silent
// expect: flagOther race=race divergence=proved
// expect: flagOther finding race/shared error on any lines 28,29
// expect: flagAsked race=race divergence=proved
// expect: flagAsked finding race/shared error on any lines 40,41
//
// An exchange whose old value nobody uses stores like a store: of one literal, whichever comes last. Another literal, or
// a use of the old value, makes the order of threads decide.

__global__ void flagByExchange(int* out) {
  __shared__ int any;
  int t = threadIdx.x;
  if (t == 0) any = 0;
  __syncthreads();
  if (t % 3 == 0) atomicExch(&any, 1);
  else any = 1;
  __syncthreads();
  out[t] = any;
}

__global__ void flagOther(int* out) {
  __shared__ int any;
  int t = threadIdx.x;
  if (t == 0) any = 0;
  __syncthreads();
  if (t % 3 == 0) atomicExch(&any, 2);
  else any = 1;
  __syncthreads();
  out[t] = any;
}

__global__ void flagAsked(int* out) {
  __shared__ int any;
  int t = threadIdx.x, before = 0;
  if (t == 0) any = 0;
  __syncthreads();
  // The first one to come.
  if (t % 3 == 0) before = atomicExch(&any, 1);
  else any = 1;
  __syncthreads();
  out[t] = any + before;
}

void run(int* out) {
  flagByExchange<<<1, 256>>>(out);
  flagOther<<<1, 256>>>(out);
  flagAsked<<<1, 256>>>(out);
}
