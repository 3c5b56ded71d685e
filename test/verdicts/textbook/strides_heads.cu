// expect: splitHeadsFlat race=proved divergence=proved
// expect: splitHeadsFlat silent
// expect: unpackedQkv race=proved divergence=proved
// expect: unpackedQkv silent
// expect: packedQkv race=proved divergence=proved
// expect: packedQkv silent
// expect: rotaryOfTokens race=proved divergence=proved
// expect: rotaryOfTokens silent
// open: rotaryOfTokens no run shows an overlap, and no tier refutes it
// expect: rotaryOfPairs race=proved divergence=proved
// expect: rotaryOfPairs silent
// expect: cacheOfTokens race=proved divergence=proved
// expect: cacheOfTokens silent
// expect: sharedKeys race=proved divergence=proved
// expect: sharedKeys silent
// expect: headsOfBatch race=proved divergence=proved
// expect: headsOfBatch silent
// expect: headsOfBatch precondition "batchStride >= heads * tokens * d"
// expect: causalScores race=proved divergence=proved
// expect: causalScores silent
// expect: joinedHeads race=proved divergence=proved
// expect: joinedHeads silent
// expect: gatedInPlace race=proved divergence=proved
// expect: gatedInPlace silent
// expect: embeddedTokens race=proved divergence=proved
// expect: embeddedTokens silent
// expect: tokensToHeads race=proved divergence=proved
// expect: tokensToHeads silent
//
// Tokens, heads and caches, as in transformers.

// From (batch, token, head, element) to (batch, head, token, element): the digits of a flat index change places.
__global__ void splitHeadsFlat(float* out, const float* in, unsigned batch, unsigned tokens, unsigned heads,
                               unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * tokens * heads * size) {
        unsigned e = i % size, h = i / size % heads, t = i / size / heads % tokens, b = i / (size * heads * tokens);
        out[((b * heads + h) * tokens + t) * size + e] = in[i];
    }
}

// Queries, keys and values of a token follow each other, and each goes to another array.
__global__ void unpackedQkv(float* q, float* k, float* v, const float* qkv, int hidden) {
    const float* token = qkv + blockIdx.x * 3 * hidden;
    for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
        q[blockIdx.x * hidden + j] = token[j];
        k[blockIdx.x * hidden + j] = token[hidden + j];
        v[blockIdx.x * hidden + j] = token[2 * hidden + j];
    }
}

// The three parts of a token begin at 0, hidden and 2 * hidden, and the next token at 3 * hidden.
__global__ void packedQkv(float* qkv, const float* q, const float* k, const float* v, int hidden) {
    float* token = qkv + blockIdx.x * 3 * hidden;
    for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
        token[j] = q[blockIdx.x * hidden + j];
        token[hidden + j] = k[blockIdx.x * hidden + j];
        token[2 * hidden + j] = v[blockIdx.x * hidden + j];
    }
}

// A thread rotates an element of the first half of a head with that of the second half. Tokens have a stride.
// under: stride >= heads * d, the elements of the heads of one token
__global__ void rotaryOfTokens(float* x, const float* angle, int heads, int d, int stride) {
    int half = d / 2;
    for (int h = threadIdx.y; h < heads; h += blockDim.y)
        for (int i = threadIdx.x; i < half; i += blockDim.x) {
            float* first = x + blockIdx.x * stride + h * d + i;
            float a = first[0], b = first[half], c = cosf(angle[i]), s = sinf(angle[i]);
            first[0] = a * c - b * s;
            first[half] = a * s + b * c;
        }
}

// Pairs of neighbours rotate. If d is odd, its last element stays as it is.
__global__ void rotaryOfPairs(float* x, const float* angle, int d) {
    float* row = x + blockIdx.x * d;
    for (int i = threadIdx.x; 2 * i + 1 < d; i += blockDim.x) {
        float a = row[2 * i], b = row[2 * i + 1], c = cosf(angle[i]), s = sinf(angle[i]);
        row[2 * i] = a * c - b * s;
        row[2 * i + 1] = a * s + b * c;
    }
}

// New tokens follow those in the cache of their sequence, as long as there is room.
__global__ void cacheOfTokens(float* cache, const float* k, unsigned start, unsigned capacity, unsigned hidden) {
    unsigned at = start + blockIdx.x, sequence = blockIdx.y;
    if (at >= capacity)
        return;
    for (unsigned j = threadIdx.x; j < hidden; j += blockDim.x)
        cache[(sequence * capacity + at) * hidden + j] = k[(sequence * gridDim.x + blockIdx.x) * hidden + j];
}

// Several heads share the keys of one group: that quotient only chooses what is read.
__global__ void sharedKeys(float* out, const float* keys, int heads, int groups, int d) {
    int token = blockIdx.x;
    for (int h = threadIdx.y; h < heads; h += blockDim.y)
        for (int e = threadIdx.x; e < d; e += blockDim.x)
            out[(token * heads + h) * d + e] = keys[(token * groups + h * groups / heads) * d + e];
}

// The stride of the batch is at least the extent of all heads of one sequence.
// under: batchStride >= heads * tokens * d
__global__ void headsOfBatch(float* x, const float* bias, int heads, int tokens, int d, int batchStride) {
    int h = blockIdx.y, t = blockIdx.x;
    if (h >= heads || t >= tokens)
        return;
    float* row = x + blockIdx.z * batchStride + (h * tokens + t) * d;
    for (int e = threadIdx.x; e < d; e += blockDim.x)
        row[e] += bias[h * d + e];
}

// Only keys up to the query: the guards of both bound the key by the length of a row.
__global__ void causalScores(float* scores, float scale, int tokens) {
    int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y * blockDim.y + threadIdx.y;
    if (query < tokens && key < tokens) {
        float* score = scores + ((size_t)blockIdx.z * tokens + query) * tokens + key;
        *score = key <= query ? *score * scale : -INFINITY;
    }
}

// The heads of a token become adjacent. A guard bounds the head, and the loop bounds the element.
__global__ void joinedHeads(float* out, const float* in, int tokens, int heads, int d) {
    int t = blockIdx.x, h = blockIdx.y;
    if (t >= tokens || h >= heads)
        return;
    for (int e = threadIdx.x; e < d; e += blockDim.x)
        out[t * (heads * d) + h * d + e] = in[(h * tokens + t) * d + e];
}

// A row has two halves of w elements: the second one is read, and the first one replaced.
__global__ void gatedInPlace(float* x, int w) {
    float* row = x + blockIdx.x * (2 * w);
    for (int j = threadIdx.x; j < w; j += blockDim.x) {
        float gate = row[j];
        row[j] = gate / (1.0f + expf(-gate)) * row[w + j];
    }
}

// The rows of the table are chosen by contents, those of the output by the number of the block.
__global__ void embeddedTokens(float2* out, const float2* table, const int* token, int d) {
    const float2* from = table + (size_t)token[blockIdx.x] * d;
    for (int j = threadIdx.x; j < d; j += blockDim.x)
        out[(size_t)blockIdx.x * d + j] = from[j];
}

// An element of a token is divided into its head and its place there, and the token into sequence and position.
__global__ void tokensToHeads(float* out, const float* in, unsigned batch, unsigned tokens, unsigned heads,
                              unsigned d) {
    if (blockIdx.x >= batch * tokens)
        return;
    unsigned sequence = blockIdx.x / tokens, t = blockIdx.x % tokens;
    for (unsigned j = threadIdx.x; j < heads * d; j += blockDim.x) {
        unsigned h = j / d, e = j % d;
        out[((sequence * heads + h) * tokens + t) * d + e] = in[blockIdx.x * heads * d + j];
    }
}
