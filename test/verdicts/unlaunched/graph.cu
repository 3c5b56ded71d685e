// expect: relax_any race=race divergence=proved
// expect: relax_any finding race/global warning on dist lines 24,25,26
// expect: relax_next_any race=proved divergence=proved
// expect: relax_next_any silent
// expect: relax_next_any assumes no-alias
// expect: bfs_any race=proved divergence=proved
// expect: bfs_any silent
// expect: bfs_plain_any race=race divergence=proved
// expect: bfs_plain_any finding race/global warning on level lines 60,61
// expect: list_rank_any race=proved divergence=proved
// expect: list_rank_any silent
// expect: list_rank_in_place_any race=race divergence=proved
// expect: list_rank_in_place_any finding race/global warning on rank lines 79
// expect: list_rank_in_place_any finding race/global warning on next lines 80
// expect: list_push_any race=proved divergence=proved
// expect: list_push_any silent
// expect: list_push_plain_any race=race divergence=proved
// expect: list_push_plain_any finding race/global warning on head lines 94,95

// Relaxation of all edges: one thread loads a distance that another one stores.
__global__ void relax_any(int* dist, const int* from, const int* to, const int* weight, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges) {
        int d = dist[from[e]] + weight[e];
        if (d < dist[to[e]])
            dist[to[e]] = d;
    }
}

__global__ void relax_next_any(int* next, const int* dist, const int* from, const int* to, const int* weight,
                               int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges)
        atomicMin(&next[to[e]], dist[from[e]] + weight[e]);
}

// A level of a breadth-first search. An atomic claims a vertex, another one allocates its slot in the next frontier.
__global__ void bfs_any(int* level, int* later, unsigned* count, const int* frontier, const int* rp, const int* col,
                        int depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = frontier[i];
    for (int e = rp[v]; e < rp[v + 1]; e++) {
        int u = col[e];
        if (atomicCAS(&level[u], -1, depth) == -1)
            later[atomicAdd(count, 1u)] = u;
    }
}

// Two threads may see that no one has claimed the vertex, and both store its level.
__global__ void bfs_plain_any(int* level, int* later, unsigned* count, const int* frontier, const int* rp,
                              const int* col, int depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = frontier[i];
    for (int e = rp[v]; e < rp[v + 1]; e++) {
        int u = col[e];
        if (level[u] < 0) {
            level[u] = depth;
            later[atomicAdd(count, 1u)] = u;
        }
    }
}

// A step of list ranking: each element jumps over its successor.
__global__ void list_rank_any(int* rank2, int* next2, const int* rank, const int* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        rank2[i] = rank[i] + rank[next[i]];
        next2[i] = next[next[i]];
    }
}

__global__ void list_rank_in_place_any(int* rank, int* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        rank[i] += rank[next[i]];
        next[i] = next[next[i]];
    }
}

// Each element goes to the front of the list of its key.
__global__ void list_push_any(int* head, int* next, const int* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        next[i] = atomicExch(&head[key[i]], i);
}

__global__ void list_push_plain_any(int* head, int* next, const int* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        next[i] = head[key[i]];
        head[key[i]] = i;
    }
}
