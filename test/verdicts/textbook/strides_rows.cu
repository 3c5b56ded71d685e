// expect: addedImages race=proved divergence=proved
// expect: addedImages silent
// expect: addedImages precondition "outPitch >= w"
// expect: scaledSubmatrix race=proved divergence=proved
// expect: scaledSubmatrix silent
// expect: scaledSubmatrix precondition "ld >= n"
// expect: batchOfMatrices race=proved divergence=proved
// expect: batchOfMatrices silent
// expect: batchOfMatrices precondition "batchStride >= cols * rows"
// expect: planesOfImage race=proved divergence=proved
// expect: planesOfImage silent
// expect: planesOfPixels race=proved divergence=proved
// expect: planesOfPixels silent
// expect: partsOfWorkspace race=proved divergence=proved
// expect: partsOfWorkspace silent
// expect: laggedDifferences race=proved divergence=proved
// expect: laggedDifferences silent
// expect: doubledPixels race=proved divergence=proved
// expect: doubledPixels silent
// expect: framedMatrix race=proved divergence=proved
// expect: framedMatrix silent
// expect: scaledComplex race=proved divergence=proved
// expect: scaledComplex silent
// expect: addedVectors race=proved divergence=proved
// expect: addedVectors silent
// expect: addedVectors precondition "incy >= 1"
// expect: columnMajorUpdate race=proved divergence=proved
// expect: columnMajorUpdate silent
// expect: columnMajorUpdate precondition "lda >= m"
// expect: pitchInBytes race=proved divergence=proved
// expect: pitchInBytes silent
// expect: pitchInBytes precondition "pitch >= 4 * w"
// expect: croppedWindow race=proved divergence=proved
// expect: croppedWindow silent
//
// Rows, planes, pitches and parts of arrays.

// Two images with different pitches. Only the pitch of the sum matters, and it is at least the width.
__global__ void addedImages(float* out, const float* in, int w, int h, int outPitch, int inPitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * outPitch + x] += in[y * inPitch + x];
}

// A part of a matrix with leading dimension ld. Where the part begins is the same for all threads.
__global__ void scaledSubmatrix(double* a, double factor, int m, int n, int ld, int top, int left) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n)
        a[(top + i) * ld + left + j] *= factor;
}

// A matrix for each block in z. The stride of the batch is at least a whole matrix.
__global__ void batchOfMatrices(float* a, const float* bias, int cols, int rows, int batchStride) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows)
        a[blockIdx.z * batchStride + y * cols + x] += bias[x];
}

// Planes of an image, one for each block in z: the guards keep every index below the extent above it.
__global__ void planesOfImage(unsigned char* out, const unsigned char* in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int at = (blockIdx.z * h + y) * w + x;
    out[at] = 255 - in[at];
}

// Interleaved channels become planes. The size of a plane also bounds the index within it.
__global__ void planesOfPixels(float* out, const float* in, int plane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < plane)
        for (int c = 0; c < 3; c++)
            out[c * plane + i] = in[3 * i + c];
}

// Three parts of a workspace, of n elements each, begin at 0, n and 2 * n.
__global__ void partsOfWorkspace(double* work, const double* x, const double* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        work[i] = x[i] + y[i];
        work[n + i] = x[i] - y[i];
        work[2 * n + i] = x[i] * y[i];
    }
}

// The shift k reads another array, and each thread stores its own element.
__global__ void laggedDifferences(float* out, const float* in, int k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + k < n)
        out[i] = in[i + k] - in[i];
}

// Each pixel becomes a square of two by two, in an image of twice the width.
__global__ void doubledPixels(float* out, const float* in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++)
            out[(2 * y + dy) * (2 * w) + 2 * x + dx] = in[y * w + x];
}

// A frame of pad elements surrounds the matrix, so that a row of the output is longer than one of the input.
__global__ void framedMatrix(float* out, const float* in, unsigned w, unsigned h, unsigned pad) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[(y + pad) * (w + 2 * pad) + x + pad] = in[y * w + x];
}

// Real and imaginary parts alternate, and a thread takes both parts of its number.
__global__ void scaledComplex(float* z, float re, float im, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = z[2 * i], b = z[2 * i + 1];
    z[2 * i] = a * re - b * im;
    z[2 * i + 1] = a * im + b * re;
}

// Vectors with strides, as in linear algebra. The stride of the result is positive.
__global__ void addedVectors(double* y, const double* x, double alpha, int n, int incx, int incy) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i * incy] += alpha * x[i * incx];
}

// Columns are adjacent in memory: the leading dimension is at least their length.
__global__ void columnMajorUpdate(double* a, const double* x, const double* y, int m, int n, int lda) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n)
        a[i + j * lda] += x[i] * y[j];
}

// The pitch counts bytes, and a row has w elements of four bytes.
__global__ void pitchInBytes(char* out, const float* in, int w, int h, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        ((float*)(out + y * pitch))[x] = in[y * w + x];
}

// A window of w x h pixels is cut out: its guards confine the differences to the rows of the output.
__global__ void croppedWindow(float* out, const float* in, int width, int left, int top, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= left && x < left + w && y >= top && y < top + h)
        out[(y - top) * w + x - left] = in[y * width + x];
}
