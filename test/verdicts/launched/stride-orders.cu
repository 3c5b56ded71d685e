// expect: any_layout race=proved divergence=proved
// expect: any_layout silent
// expect: any_layout precondition "row >= n"
// expect: any_layout precondition "volume >= n"
// expect: any_layout precondition "volume >= gridDim.y * plane + gridDim.x * row + n - plane - row && plane >= gridDim.x * row + n - row || plane >= gridDim.z * volume + n - volume && row >= gridDim.z * volume + gridDim.y * plane + n - volume - plane"
// expect: rotated_rows race=proved divergence=proved
// expect: rotated_rows silent
// expect: rotated_rows precondition "heads >= 1"
// expect: rotated_rows precondition "tokens >= 1"
// expect: rotated_rows precondition "batch >= tokens * token + heads * head + n - token - head"
// expect: rotated_rows precondition "head >= n"
// expect: rotated_rows precondition "token >= n"
// expect: rotated_rows precondition "token >= heads * head + n - head || head >= tokens * token + n - token"
// expect: odd_rows race=race divergence=proved
// expect: odd_rows finding race/global error on out lines 54
// expect: copied_vector race=proved divergence=proved
// expect: copied_vector silent
// expect: copied_vector precondition "row >= n"
// expect: copied_vector precondition "plane >= n"
// expect: copied_vector precondition "plane >= gridDim.x * row + n - row || row >= gridDim.y * plane + n - plane"
// expect: turned_halves race=proved divergence=proved
// expect: turned_halves silent
// expect: turned_halves precondition "n % 2 == 0"
// expect: equal_strides race=race divergence=proved
// expect: equal_strides finding race/global error on out lines 73
//
// The strides of rows and planes nest in one order or the other, and the host program leaves both open: each order is a proof,
// and either of them is the precondition.
#include <cstdlib>

// Rows, planes and volumes of a tensor of any layout.
__global__ void any_layout(float* out, const float* in, int n, int row, int plane, int volume) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.z * volume + blockIdx.y * plane + blockIdx.x * row + i] = in[i];
}

// Two elements each, of a row with an even number of them. The last digit of the number of the row has no bound.
__global__ void rotated_rows(float* out, const float* in, int n, int heads, int tokens, int head, int token, int batch) {
    int c = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (c >= n)
        return;
    int row = blockIdx.x;
    int b = row / (heads * tokens), t = row % (heads * tokens) / heads, h = row % heads;
    int at = b * batch + t * token + h * head + c;
    out[at] = in[at] - in[at + 1];
    out[at + 1] = in[at] + in[at + 1];
}

// The second element of a thread is the first one of the next: a row of an odd length has one element more.
__global__ void odd_rows(float* out, int n, int row, int plane) {
    int c = 2 * threadIdx.x;
    if (c < n)
        for (int k = 0; k <= 2; k++)
            out[blockIdx.y * plane + blockIdx.x * row + c + k] = float(c);
}

// One vector, in a loop of one iteration.
__global__ void copied_vector(float2* out, const float2* in, int n, int row, int plane) {
    int c = threadIdx.x;
    if (c >= n)
        return;
    float2* to = out + blockIdx.y * plane + blockIdx.x * row + c;
    const float2* from = in + blockIdx.y * plane + blockIdx.x * row + c;
#pragma unroll
    for (int i = 0; i < int(sizeof(float2) / 8); i++)
        to[i] = from[i];
}

// Planes have the stride of rows: no order of the strides nests.
__global__ void equal_strides(float* out, const float* in, int n, int row, int plane) {
    int c = threadIdx.x;
    if (c < n)
        out[blockIdx.y * plane + blockIdx.x * row + c] = in[c];
}

// A row of two halves of equal length: the host program passes its length as the stride, too.
__global__ void turned_halves(float* rows, int n, int ld) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= n)
        return;
    float* row = rows + blockIdx.y * ld;
    float low = row[i], high = row[i + n / 2];
    row[i] = -high;
    row[i + n / 2] = low;
}

void halves(float* rows, int n, int count) {
    turned_halves<<<dim3((n / 2 + 127) / 128, count), 128>>>(rows, n, n);
}

void launch(float* out, const float* in, float2* to, const float2* from, dim3 grid, int n, int rows, int heads, int tokens, int a, int b, int c) {
    any_layout<<<grid, 128>>>(out, in, n, a, b, c);
    if (n % 2 != 0)
        abort();
    rotated_rows<<<dim3(rows, (n + 511) / 512), dim3(1, 256)>>>(out, in, n, heads, tokens, a, b, c);
    odd_rows<<<dim3(rows, heads), 256>>>(out, n, a, b);
    copied_vector<<<dim3(rows, heads), 256>>>(to, from, n, a, b);
    equal_strides<<<dim3(rows, heads), 256>>>(out, in, n, a, a);
}
