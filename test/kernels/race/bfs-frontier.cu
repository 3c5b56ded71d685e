// expect: expand race=proved divergence=proved finding race/global lines 23,23
// expect: settle race=proved divergence=proved finding race/global lines 35,35
// expect: settle_with_exchange race=proved divergence=proved
// expect: expand_with_atomics race=proved divergence=proved
// expect: append_to_frontier race=proved divergence=proved
// expect: append_without_atomics race=race divergence=proved finding race/global lines 76,76 finding race/global lines 77,77 finding race/global lines 75,77
// open: append_without_atomics race=race divergence=proved finding race/global lines 77,77 finding race/global lines 75,77 (runs let threads go one after the other)
//
// Breadth-first search level by level. Threads that find the same neighbour, and all that have found one, write one
// literal that no thread reads meanwhile: proved under the assumption that this is harmless, with a notice if a run
// shows it. Atomic exchanges do not race. Whether two threads find the same neighbour depends on the edges;
// no run has edges between vertices that exist and are not visited.

// selvage: block=64 grid=2 arg(n=128)
__global__ void expand(const int* first, const int* edges, const int* frontier, const int* visited, int* found,
                       int* next, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && frontier[v]) {
        for (int e = first[v]; e < first[v + 1]; ++e) {
            int to = edges[e];
            if (!visited[to]) {
                next[to] = 1;
                *found = 1;
            }
        }
    }
}

// selvage: block=64 grid=2 arg(n=128)
__global__ void settle(int* next, int* visited, int* again, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && next[v]) {
        next[v] = 0;
        visited[v] = 1;
        *again = 1;
    }
}

__global__ void settle_with_exchange(int* next, int* visited, int* again, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && next[v]) {
        next[v] = 0;
        visited[v] = 1;
        atomicExch(again, 1);
    }
}

__global__ void expand_with_atomics(const int* first, const int* edges, const int* frontier, int* level, int depth,
                                    int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && frontier[v]) {
        for (int e = first[v]; e < first[v + 1]; ++e)
            atomicCAS(&level[edges[e]], -1, depth + 1);
    }
}

// Only the thread that sets the level of a vertex appends it to the list, at a separate element.
__global__ void append_to_frontier(const int* first, const int* edges, const int* frontier, int length, int* level,
                                   int* next, int* nextLength, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        int v = frontier[i];
        for (int e = first[v]; e < first[v + 1]; ++e) {
            int to = edges[e];
            if (atomicCAS(&level[to], -1, depth) == -1)
                next[atomicAdd(nextLength, 1)] = to;
        }
    }
}

// selvage: block=64 grid=2 arg(length=128)
__global__ void append_without_atomics(const int* frontier, const int* keep, int* next, int* nextLength, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length && keep[i]) {
        int at = *nextLength;
        next[at] = frontier[i];
        *nextLength = at + 1;
    }
}
