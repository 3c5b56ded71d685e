// Loops whose iterations are bounded jointly by several loops or variables, and loops over data.

/// A position that never decreases.
// selvage: block=64 grid=1
__global__ void advancing(int *out, const int *a, int n, int m) {
    int j = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        while (j < m && a[j] < i) {
            sum += a[j];
            j++;
        }
    }
    out[threadIdx.x] = sum;
}

/// The same for each lane separately.
// selvage: block=64 grid=1
__global__ void advancingApart(int *out, const int *a, int n, int m) {
    int j = 0, sum = 0, own = a[threadIdx.x];
    for (int i = 0; i < n; i++) {
        while (j < m && a[j] < i + own) {
            sum += a[j];
            j++;
        }
    }
    out[threadIdx.x] = sum;
}

/// Two sorted sequences, and the remainder of one.
// selvage: block=64 grid=1
__global__ void merge(int *out, const int *a, const int *b, int n, int m) {
    int i = 0, j = 0, sum = 0;
    while (i < n && j < m) {
        if (a[i] <= b[j]) {
            sum += a[i];
            i++;
        } else {
            sum -= b[j];
            j++;
        }
    }
    while (i < n) {
        sum += a[i];
        i++;
    }
    while (j < m) {
        sum += b[j];
        j++;
    }
    out[threadIdx.x] = sum;
}

/// One end or the other moves, and lanes may diverge.
// selvage: block=64 grid=1
__global__ void twoEnds(int *out, const int *a, int n) {
    int low = 0, high = n - 1, steps = 0;
    while (low < high) {
        if (a[low] + a[high] < (int)threadIdx.x)
            low++;
        else
            high--;
        steps++;
    }
    out[threadIdx.x] = steps;
}

/// Each element is pushed once, and popped once at most.
// selvage: block=32 grid=1
__global__ void stack(int *out, const int *a, int n) {
    __shared__ int held[32][64];
    int top = 0, popped = 0;
    for (int i = 0; i < n; i++) {
        while (top > 0 && held[threadIdx.x][(top - 1) & 63] > a[i + threadIdx.x]) {
            top--;
            popped++;
        }
        held[threadIdx.x][top & 63] = a[i + threadIdx.x];
        top++;
    }
    out[threadIdx.x] = popped;
}

/// An element that is removed may insert another, up to a capacity.
// selvage: block=64 grid=1
__global__ void queue(int *out, const int *a, int capacity) {
    int head = 0, tail = 1, sum = 0;
    while (head < tail) {
        int x = a[head++];
        sum += x;
        if (x > 1 && tail < capacity) tail++;
        if (x > 2 && tail < capacity) tail++;
    }
    out[threadIdx.x] = sum;
}

/// Increments of one or of three.
// selvage: block=64 grid=1
__global__ void uneven(int *out, const int *a, int n) {
    int i = 0, sum = 0;
    while (i < n) {
        sum += a[i];
        i += a[i] > 1 ? 3 : 1;
    }
    out[threadIdx.x] = sum;
}

/// Three levels; the innermost one never restarts.
// selvage: block=64 grid=1
__global__ void threeLevels(int *out, const int *a, int n, int m) {
    int k = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            while (k < m && a[k] != j) {
                sum += a[k];
                k++;
            }
        }
    }
    out[threadIdx.x] = sum;
}

/// The position carries over, but restarts in every eighth iteration: no amortised bound.
// selvage: block=64 grid=1
__global__ void startingOver(int *out, const int *a, int n, int m) {
    int j = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 8 == 0) j = 0;
        while (j < m && a[j] < i) {
            sum += a[j];
            j++;
        }
    }
    out[threadIdx.x] = sum;
}

/// Occasional steps back: a potential that ignores them is too small.
// selvage: block=64 grid=1
__global__ void steppingBack(int *out, const int *a, int n, int m) {
    int j = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        while (j < m && a[j] < i) {
            sum += a[j];
            j++;
        }
        if (j > 1) j -= 2;
    }
    out[threadIdx.x] = sum;
}

/// Rows of a sparse matrix: their length is read from memory.
// selvage: block=64 grid=2
__global__ void rows(int *out, const int *row, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int sum = 0;
        for (int k = row[i]; k < row[i + 1]; k++) sum += x[k & 63];
        out[i] = sum;
    }
}

/// Halves the remaining interval.
// selvage: block=64 grid=1
__global__ void search(int *out, const int *a, const int *keys, int n) {
    int low = 0, high = n, key = keys[threadIdx.x];
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    out[threadIdx.x] = low;
}
