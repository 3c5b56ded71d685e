// expect: rotary_any race=proved divergence=proved
// expect: rotary_any silent
// expect: rotary_element_any race=race divergence=proved
// expect: rotary_element_any finding race/global error on x lines 27,28
// expect: rotate_half_any race=proved divergence=proved
// expect: rotate_half_any silent
// expect: rotate_half_any precondition "d % 2 == 0"
// expect: walsh_any race=proved divergence=proved
// expect: walsh_any silent
// expect: walsh_no_barrier_any race=race divergence=proved
// expect: walsh_no_barrier_any finding race/shared error on s lines 65,66,67

// Rotary embedding: a thread takes both halves of a pair.
__global__ void rotary_any(float* x, const float* angle, int d) {
    int half = d / 2, row = blockIdx.x;
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        float a = x[row * d + i], b = x[row * d + i + half], c = cosf(angle[i]), s = sinf(angle[i]);
        x[row * d + i] = a * c - b * s;
        x[row * d + i + half] = a * s + b * c;
    }
}

// A thread takes one element and reads its partner, which another thread stores.
__global__ void rotary_element_any(float* x, const float* angle, int d) {
    int half = d / 2, row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float partner = i < half ? -x[row * d + i + half] : x[row * d + i - half];
        x[row * d + i] = x[row * d + i] * cosf(angle[i]) + partner * sinf(angle[i]);
    }
}

// If d is odd, two elements go to the middle.
__global__ void rotate_half_any(float* out, const float* x, int d) {
    int half = d / 2, row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row * d + (i < half ? i + half : i - half)] = x[row * d + i];
}

// Butterflies: in each iteration a thread takes the two elements of a pair.
__global__ void __launch_bounds__(256) walsh_any(float* a) {
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 512 + t];
    s[t + 256] = a[blockIdx.x * 512 + t + 256];
    __syncthreads();
    for (int span = 1; span < 512; span *= 2) {
        int i = t / span * span * 2 + t % span;
        float x = s[i], y = s[i + span];
        s[i] = x + y;
        s[i + span] = x - y;
        __syncthreads();
    }
    a[blockIdx.x * 512 + t] = s[t];
    a[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void __launch_bounds__(256) walsh_no_barrier_any(float* a) {
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 512 + t];
    s[t + 256] = a[blockIdx.x * 512 + t + 256];
    __syncthreads();
    for (int span = 1; span < 512; span *= 2) {
        int i = t / span * span * 2 + t % span;
        float x = s[i], y = s[i + span];
        s[i] = x + y;
        s[i + span] = x - y;
    }
    __syncthreads();
    a[blockIdx.x * 512 + t] = s[t];
    a[blockIdx.x * 512 + t + 256] = s[t + 256];
}
