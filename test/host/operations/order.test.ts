/** Which operations of a host program may overlap: streams, events, waits of the host, the default stream, paths and loops. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { readUnit } from '../fixture.ts';

/** Kernels of two arrays; line 1 of each program is that of its first declaration. */
const kernels = '__global__ void p(float*) {}\n__global__ void c(float*, const float*) {}\n__global__ void n(int) {}';
const before = `float *x, *y; cudaMalloc(&x, 4096); cudaMalloc(&y, 4096);
cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t); cudaEvent_t e; cudaEventCreate(&e);`;

/** Bodies after {@link before}, and their pairs: the first line of a body is 7. */
const bodies: Readonly<Record<string, readonly [body: string, pairs: readonly string[]]>> = {
  'two streams without an event': ['p<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, t>>>(y, x);', ['streams 7 8']],
  'two streams, and two arrays': ['p<<<4, 256, 0, s>>>(x);\np<<<4, 256, 0, t>>>(y);', []],
  'two streams, and one number': ['n<<<4, 256, 0, s>>>(1);\nn<<<4, 256, 0, t>>>(1);', []],
  'one stream': ['p<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, s>>>(y, x);', []],
  'one stream of two names': ['cudaStream_t u = s; p<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, u>>>(y, x);', []],
  'the second waits for an event of the first': [
    'p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    [],
  ],
  'the event is recorded before the launch': [
    'cudaEventRecord(e, s);\np<<<4, 256, 0, s>>>(x);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    ['streams 8 10'],
  ],
  'the event is recorded in the other stream': [
    'p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, t);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    ['streams 7 10'],
  ],
  'another stream waits for the event': [
    'cudaStream_t u; cudaStreamCreate(&u); p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(u, e, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    ['streams 7 10'],
  ],
  'the wait comes after the launch': [
    'p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\nc<<<4, 256, 0, t>>>(y, x);\ncudaStreamWaitEvent(t, e, 0);',
    ['streams 7 9'],
  ],
  'the event orders by a third stream': [
    'cudaStream_t u; cudaStreamCreate(&u); cudaEvent_t f; cudaEventCreate(&f); p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(u, e, 0);\ncudaEventRecord(f, u);\ncudaStreamWaitEvent(t, f, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    [],
  ],
  'the event is recorded again, later': [
    'cudaEventRecord(e, s);\np<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    [],
  ],
  'the host waits for the first stream': ['p<<<4, 256, 0, s>>>(x);\ncudaStreamSynchronize(s);\nc<<<4, 256, 0, t>>>(y, x);', []],
  'the host waits for the second stream': [
    'p<<<4, 256, 0, s>>>(x);\ncudaStreamSynchronize(t);\nc<<<4, 256, 0, t>>>(y, x);',
    ['streams 7 9'],
  ],
  'the host waits for the event': [
    'p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaEventSynchronize(e);\nc<<<4, 256, 0, t>>>(y, x);',
    [],
  ],
  'the host waits for the device': ['p<<<4, 256, 0, s>>>(x);\ncudaDeviceSynchronize();\nc<<<4, 256, 0, t>>>(y, x);', []],
  'the default stream waits for both': ['p<<<4, 256, 0, s>>>(x);\nc<<<4, 256>>>(y, x);\np<<<4, 256, 0, t>>>(x);', []],
  'the default stream between them': ['p<<<4, 256, 0, s>>>(x);\nn<<<1, 1>>>(1);\nc<<<4, 256, 0, t>>>(y, x);', []],
  'a stream that does not wait for the default stream': [
    'cudaStream_t u; cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking); p<<<4, 256>>>(x);\nc<<<4, 256, 0, u>>>(y, x);',
    ['streams 7 8'],
  ],
  'the default stream, and one that does not wait for it': [
    'cudaStream_t u; cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking); p<<<4, 256, 0, u>>>(x);\nc<<<4, 256>>>(y, x);',
    ['streams 7 8'],
  ],
  'flags that the program computes': [
    'cudaStream_t u; cudaStreamCreateWithFlags(&u, parameter); p<<<4, 256>>>(x);\nc<<<4, 256, 0, u>>>(y, x);',
    [],
  ],
  'a fill of the default stream': [
    'cudaStream_t u; cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking); cudaMemset(x, 0, 4096);\nc<<<4, 256, 0, u>>>(y, x);',
    ['streams 7 8'],
  ],
  'a copy of the default stream': [
    'float *h = (float*)malloc(4096); p<<<4, 256, 0, s>>>(x);\ncudaMemcpy(h, x, 4096, cudaMemcpyDeviceToHost);\np<<<4, 256, 0, t>>>(x);',
    [],
  ],
  'a copy in another stream': [
    'float *h; cudaMallocHost(&h, 4096); p<<<4, 256, 0, s>>>(x);\ncudaMemcpyAsync(h, x, 4096, cudaMemcpyDeviceToHost, t);',
    ['streams 7 8'],
  ],
  'a copy before the launch, in another stream': [
    'float *h; cudaMallocHost(&h, 4096); cudaMemcpyAsync(x, h, 4096, cudaMemcpyHostToDevice, t);\np<<<4, 256, 0, s>>>(x);',
    ['streams 7 8'],
  ],
  'a copy from memory of the host that is not pinned': [
    'float *h = (float*)malloc(4096); cudaMemcpyAsync(x, h, 4096, cudaMemcpyHostToDevice, t);\np<<<4, 256, 0, s>>>(x);',
    [],
  ],
  'two copies out of one array': [
    'float *h; cudaMallocHost(&h, 4096); float *i; cudaMallocHost(&i, 4096); cudaMemcpyAsync(h, x, 4096, cudaMemcpyDeviceToHost, t);\ncudaMemcpyAsync(i, x, 4096, cudaMemcpyDeviceToHost, s);',
    [],
  ],
  'the host reads without waiting': [
    'float *m; cudaMallocManaged(&m, 4096); p<<<4, 256>>>(m);\nfloat v = m[3];\nn<<<1, 1>>>(v);',
    ['host 7 8'],
  ],
  'the host waits for a flag': [
    'int *m; cudaMallocManaged(&m, 4096); k<<<1, 1>>>(m);\nwhile (*(volatile int*)m == 0);\nn<<<1, 1>>>(1);',
    [],
  ],
  'the host waits for an atomic flag': [
    'int *m; cudaMallocManaged(&m, 4096); k<<<1, 1>>>(m);\nwhile (__atomic_load_n(m, __ATOMIC_ACQUIRE) == 0);\nn<<<1, 1>>>(1);',
    [],
  ],
  'the host reads after waiting': [
    'float *m; cudaMallocManaged(&m, 4096); p<<<4, 256>>>(m);\ncudaDeviceSynchronize();\nfloat v = m[3];\nn<<<1, 1>>>(v);',
    [],
  ],
  'the host writes before the launch': ['float *m; cudaMallocManaged(&m, 4096); m[3] = 1;\np<<<4, 256>>>(m);', []],
  'the host writes after the launch': [
    'float *m; cudaMallocManaged(&m, 4096); p<<<4, 256>>>(m);\nm[3] = 1;\nn<<<1, 1>>>(1);',
    ['host 7 8'],
  ],
  'the host reads the target of a copy': [
    'float *h; cudaMallocHost(&h, 4096); cudaMemcpyAsync(h, x, 4096, cudaMemcpyDeviceToHost, s);\nn<<<1, 1>>>(h[1]);',
    ['host 7 8'],
  ],
  'the host writes the source of a copy': [
    'float *h; cudaMallocHost(&h, 4096); cudaMemcpyAsync(x, h, 4096, cudaMemcpyHostToDevice, s);\nh[1] = 2;\nn<<<1, 1>>>(1);',
    ['host 7 8'],
  ],
  'the host waits for the stream of the copy': [
    'float *h; cudaMallocHost(&h, 4096); cudaMemcpyAsync(h, x, 4096, cudaMemcpyDeviceToHost, s);\ncudaStreamSynchronize(s);\nn<<<1, 1>>>(h[1]);',
    [],
  ],
  'an event of an array, at an unknown index': [
    'cudaEvent_t v[2]; for (int i = 0; i < 2; i++) cudaEventCreate(&v[i]); p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(v[parameter & 1], s);\ncudaStreamWaitEvent(t, v[0], 0); cudaStreamWaitEvent(t, v[1], 0);\nc<<<4, 256, 0, t>>>(y, x);',
    [],
  ],
  'the handles of the default streams': [
    'cudaStream_t u; cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking); p<<<4, 256, 0, cudaStreamPerThread>>>(x);\nc<<<4, 256, 0, cudaStreamLegacy>>>(y, x);\np<<<4, 256, 0, u>>>(x);',
    ['streams 7 9', 'streams 8 9'],
  ],
  'the stream of the thread and another stream': ['p<<<4, 256, 0, cudaStreamPerThread>>>(x);\nc<<<4, 256, 0, s>>>(y, x);', ['streams 7 8']],
  'two fills of one value': ['cudaMemsetAsync(x, 0, 4096, s);\ncudaMemsetAsync(x, 0, 4096, t);\nn<<<1, 1, 0, t>>>(1);', []],
  'two fills of an unknown value': [
    'cudaMemsetAsync(x, parameter, 4096, s);\ncudaMemsetAsync(x, parameter, 4096, t);\nn<<<1, 1, 0, t>>>(1);',
    [],
  ],
  'two fills of different values': [
    'cudaMemsetAsync(x, 0, 4096, s);\ncudaMemsetAsync(x, 1, 4096, t);\nn<<<1, 1, 0, t>>>(1);',
    ['streams 7 8'],
  ],
  'memory is freed in another stream': ['p<<<4, 256, 0, s>>>(x);\ncudaFreeAsync(x, t);', ['streams 7 8']],
  'memory is freed in the same stream': ['p<<<4, 256, 0, s>>>(x);\ncudaFreeAsync(x, s);', []],
  'memory is freed after an event': [
    'p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\ncudaFreeAsync(x, t);',
    [],
  ],
  'the host reads registered memory': [
    'static float h[1024]; cudaHostRegister(h, 4096, 0);\np<<<4, 256, 0, s>>>(h);\nfloat v = h[3];\nn<<<1, 1>>>(v);',
    ['host 8 9'],
  ],
  'the host reads registered memory after waiting': [
    'static float h[1024]; cudaHostRegister(h, 4096, 0);\np<<<4, 256, 0, s>>>(h);\ncudaStreamSynchronize(s);\nfloat v = h[3];\nn<<<1, 1>>>(v);',
    [],
  ],
  'the address that the device has for registered memory': [
    'static float h[1024]; cudaHostRegister(h, 4096, 0); float *d; cudaHostGetDevicePointer(&d, h, 0);\np<<<4, 256, 0, s>>>(d);\nh[3] = 1;\nn<<<1, 1>>>(1);',
    ['host 8 9'],
  ],
  'a copy to registered memory': [
    'static float h[1024]; cudaHostRegister(h, 4096, 0); cudaMemcpyAsync(h, x, 4096, cudaMemcpyDeviceToHost, s);\nn<<<1, 1>>>(h[1]);',
    ['host 7 8'],
  ],
  'the host waits for a volatile member': [
    'struct F { volatile int ready; int data; } *f; cudaMallocManaged(&f, 8); k<<<1, 1>>>((int*)f);\nwhile (f->ready == 0);\nn<<<1, 1>>>(f->data);',
    [],
  ],
  'the host does not wait for a plain member': [
    'struct G { int done; int data; } *f; cudaMallocManaged(&f, 8); k<<<1, 1>>>((int*)f);\nint d = f->done;\nn<<<1, 1>>>(d);',
    ['host 7 8'],
  ],
  'two buffers alternately, in any number of iterations': [
    'for (int i = 0; i < parameter; i++) {\np<<<4, 256, 0, s>>>(x + 512 * (i & 1));\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x + 512 * (i & 1)); }',
    ['streams 11 8'],
  ],
  'two buffers alternately, with an event for each': [
    'cudaEvent_t f[2]; cudaEventCreate(&f[0]); cudaEventCreate(&f[1]);\nfor (int i = 0; i < parameter; i++) {\nif (i >= 2) cudaStreamWaitEvent(s, f[i & 1], 0);\np<<<4, 256, 0, s>>>(x + 512 * (i & 1));\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x + 512 * (i & 1));\ncudaEventRecord(f[i & 1], t); }',
    // The latest iteration overlaps with that before it: they use different halves, which runs show.
    ['streams 13 10'],
  ],
  'the next iteration waits for the event of this one': [
    'cudaEvent_t f; cudaEventCreate(&f);\nfor (int i = 0; i < parameter; i++) {\ncudaStreamWaitEvent(s, f, 0);\np<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);\ncudaEventRecord(f, t); }',
    [],
  ],
  'the host writes in the next iteration': [
    'float *h; cudaMallocHost(&h, 4096);\nfor (int i = 0; i < parameter; i++) {\nh[i] = 1;\np<<<4, 256, 0, s>>>(h); }',
    ['host 10 9'],
  ],
  'a copy within pinned memory': [
    'float *h; cudaMallocHost(&h, 4096); float *i; cudaMallocHost(&i, 4096); cudaMemcpyAsync(h, i, 4096, cudaMemcpyHostToHost, s);\ni[0] = 1;\nn<<<1, 1>>>(1);',
    [],
  ],
  'the host waits for an atomic flag in a function': [
    'int *m; cudaMallocManaged(&m, 4096); k<<<1, 1>>>(m); auto f = [](int *a) { return __atomic_load_n(a, __ATOMIC_ACQUIRE); };\nwhile (f(m) == 0);\nn<<<1, 1>>>(m[1]);',
    [],
  ],
  'the host waits for a volatile flag in a function': [
    'int *m; cudaMallocManaged(&m, 4096); k<<<1, 1>>>(m); auto f = [](volatile int *a) { return *a; };\nwhile (f(m) == 0);\nn<<<1, 1>>>(m[1]);',
    [],
  ],
  'the host asks how long it took': [
    'p<<<4, 256, 0, s>>>(x); cudaEventRecord(e, s);\nfloat v; while (cudaEventElapsedTime(&v, e, e) == cudaErrorNotReady);\nc<<<4, 256, 0, t>>>(y, x);',
    [],
  ],
  'unknown code between them': ['p<<<4, 256, 0, s>>>(x);\nunknown();\nc<<<4, 256, 0, t>>>(y, x);', []],
  'an unknown function of the runtime between them': ['p<<<4, 256, 0, s>>>(x);\ncudaDeviceReset();\nc<<<4, 256, 0, t>>>(y, x);', []],
  'streams that the program is not the maker of': [
    'cudaStream_t u = *(cudaStream_t*)parameter2; p<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, u>>>(y, x);',
    [],
  ],
  'one of two paths waits': ['p<<<4, 256, 0, s>>>(x);\nif (parameter > 3) cudaStreamSynchronize(s);\nc<<<4, 256, 0, t>>>(y, x);', []],
  'the first is on one of two paths': ['if (parameter > 3) p<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, t>>>(y, x);', ['streams 7 8']],
  'two paths that exclude each other': [
    'if (parameter > 3) p<<<4, 256, 0, s>>>(x);\nif (parameter <= 3) c<<<4, 256, 0, t>>>(y, x);\nif (parameter > 3) cudaDeviceSynchronize();',
    [],
  ],
  'both arms of a condition': ['if (parameter > 3) p<<<4, 256, 0, s>>>(x);\nelse c<<<4, 256, 0, t>>>(y, x);', []],
  'paths that unknown functions choose': ['if (late()) p<<<4, 256, 0, s>>>(x);\nif (late()) c<<<4, 256, 0, t>>>(y, x);', []],
  'iterations one by one': [
    'cudaStream_t u[2]; for (int i = 0; i < 2; i++) cudaStreamCreate(&u[i]);\nfor (int i = 0; i < 2; i++)\np<<<4, 256, 0, u[i]>>>(x);',
    ['streams 9 9'],
  ],
  'iterations with separate arrays': [
    'cudaStream_t u[2]; for (int i = 0; i < 2; i++) cudaStreamCreate(&u[i]);\nfor (int i = 0; i < 2; i++)\np<<<4, 256, 0, u[i]>>>(i ? x : y);',
    [],
  ],
  'a loop that the first launch precedes': [
    'p<<<4, 256, 0, s>>>(x);\nfor (int i = 0; i < parameter; i++) c<<<4, 256, 0, t>>>(y, x);',
    ['streams 7 8'],
  ],
  'a loop that waits at the end of each iteration, too late for the first': [
    'p<<<4, 256, 0, s>>>(x);\nfor (int i = 0; i < parameter; i++) {\nc<<<4, 256, 0, t>>>(y, x);\ncudaDeviceSynchronize(); }',
    ['streams 7 9'],
  ],
  'a loop that launches and waits in each iteration': [
    'for (int i = 0; i < parameter; i++) {\np<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x); }',
    // The launch of the next iteration does not wait for that of this one.
    ['streams 11 8'],
  ],
  'a loop that waits for nothing': [
    'for (int i = 0; i < parameter; i++) {\np<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, t>>>(y, x); }',
    ['streams 8 9', 'streams 9 8'],
  ],
  'two devices': ['p<<<4, 256, 0, s>>>(x);\ncudaSetDevice(1);\nc<<<4, 256, 0, t>>>(y, x);', []],
  'a function that launches': ['auto f = [&](float *a, cudaStream_t u) {\np<<<4, 256, 0, u>>>(a); };\nf(x, s);\nf(x, t);', ['streams 8 8']],
  'a function that waits': ['auto f = [&] { cudaStreamSynchronize(s); };\np<<<4, 256, 0, s>>>(x);\nf();\nc<<<4, 256, 0, t>>>(y, x);', []],
};

test(
  'operations that streams, events and the host leave without an order are found, and no others',
  { skip: withoutNvcc },
  async (context) => {
    const snippets = Object.values(bodies).map(([body]) => ({
      text: `${kernels}\nvoid run(int parameter, void* parameter2) {\n${before}\n${body}\n}`,
    }));
    const { unordered, cutShort } = await readUnit(context, snippets);
    assert.deepEqual(cutShort, []);
    const found = Object.fromEntries(Object.keys(bodies).map((name, at) => [name, unordered[at]]));
    assert.deepEqual(found, Object.fromEntries(Object.entries(bodies).map(([name, [, pairs]]) => [name, pairs])));
  },
);

const graph = `cudaGraph_t g; cudaGraphCreate(&g, 0); cudaGraphNode_t n1, n2, n3; cudaKernelNodeParams q = {0}, r = {0}; void *one[] = {&x}, *two[] = {&y, &x};
q.func = (void*)p; q.gridDim = dim3(4); q.blockDim = dim3(256); q.kernelParams = one; r.func = (void*)c; r.gridDim = dim3(4); r.blockDim = dim3(256); r.kernelParams = two;`;

/** Bodies after {@link graph}; their first line is 9. */
const graphs: Readonly<Record<string, readonly [body: string, pairs: readonly string[]]>> = {
  'two nodes without an edge': [
    'cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\ncudaGraphAddKernelNode(&n2, g, nullptr, 0, &r);',
    ['streams 9 10'],
  ],
  'an edge': ['cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\ncudaGraphAddKernelNode(&n2, g, &n1, 1, &r);', []],
  'an edge to a copy between them': [
    'cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\ncudaGraphAddEmptyNode(&n3, g, &n1, 1);\ncudaGraphAddKernelNode(&n2, g, &n3, 1, &r);',
    [],
  ],
  'edges in a vector': [
    'std::vector<cudaGraphNode_t> v; cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\nv.push_back(n1);\ncudaGraphAddKernelNode(&n2, g, v.data(), v.size(), &r);',
    [],
  ],
  'an edge from another node': [
    'cudaGraphAddEmptyNode(&n3, g, nullptr, 0); cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\ncudaGraphAddKernelNode(&n2, g, &n3, 1, &r);',
    ['streams 9 10'],
  ],
  'two graphs': [
    'cudaGraph_t h; cudaGraphCreate(&h, 0); cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\ncudaGraphAddKernelNode(&n2, h, nullptr, 0, &r);',
    [],
  ],
  'a capture of two streams': [
    'cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); cudaEventRecord(e, s); cudaStreamWaitEvent(t, e, 0);\np<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, t>>>(y, x);\ncudaStreamEndCapture(s, &g);',
    ['streams 10 11'],
  ],
  'a stream that is not captured, while another one is': [
    'cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);\np<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, t>>>(y, x);\ncudaStreamEndCapture(s, &g);',
    [],
  ],
  'the host during a capture': [
    'float *m; cudaMallocManaged(&m, 4096); cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);\np<<<4, 256, 0, s>>>(m);\nm[3] = 1;\ncudaStreamEndCapture(s, &g);',
    [],
  ],
  'a capture of streams that an event orders': [
    'cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);\np<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s); cudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);\ncudaStreamEndCapture(s, &g);',
    [],
  ],
  'a launch before a capture': [
    'p<<<4, 256, 0, t>>>(x);\ncudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);\nc<<<4, 256, 0, s>>>(y, x);\ncudaStreamEndCapture(s, &g);',
    [],
  ],
};

test('nodes of a graph that no edge orders are found', { skip: withoutNvcc }, async (context) => {
  const snippets = Object.values(graphs).map(([body]) => ({
    text: `${kernels}\nvoid run(int parameter, void* parameter2) {\n${before}\n${graph}\n${body}\n}`,
    kernels: { '1cEPfPKf': [8, 8], '1pEPf': [8] },
  }));
  const { unordered } = await readUnit(context, snippets, ['vector']);
  const found = Object.fromEntries(Object.keys(graphs).map((name, at) => [name, unordered[at]]));
  assert.deepEqual(found, Object.fromEntries(Object.entries(graphs).map(([name, [, pairs]]) => [name, pairs])));
});

test('nodes are not judged if their parameters are set later', { skip: withoutNvcc }, async (context) => {
  const body =
    'cudaGraphAddKernelNode(&n1, g, nullptr, 0, &q);\ncudaGraphAddKernelNode(&n2, g, nullptr, 0, &r);\ncudaGraphKernelNodeSetParams(n2, &q);';
  const text = `${kernels}\nvoid run(int parameter, void* parameter2) {\n${before}\n${graph}\n${body}\n}`;
  const { unordered } = await readUnit(context, [{ text, kernels: { '1cEPfPKf': [8, 8], '1pEPf': [8] } }]);
  assert.deepEqual(unordered, [[]]);
});

/** A launch of `c` with the attribute of programmatic stream serialization. */
const early = (stream: string, value = '1'): string =>
  `{ cudaLaunchConfig_t g = {}; g.gridDim = 4; g.blockDim = 256; g.stream = ${stream}; cudaLaunchAttribute a[1];
a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; a[0].val.programmaticStreamSerializationAllowed = ${value}; g.attrs = a; g.numAttrs = 1;
cudaLaunchKernelEx(&g, c, y, (const float*)x); }`;

const earlyBodies: Readonly<Record<string, readonly [body: string, pairs: readonly string[]]>> = {
  'the kernel before it': [`p<<<4, 256, 0, s>>>(x);\n${early('s')}`, ['programmatic 7 10']],
  'the last of two kernels': [`p<<<4, 256, 0, s>>>(x);\np<<<4, 256, 0, s>>>(x);\n${early('s')}`, ['programmatic 8 11']],
  'a kernel in another stream': [`p<<<4, 256, 0, s>>>(x);\nn<<<4, 256, 0, t>>>(1);\n${early('t')}`, ['streams 7 11', 'programmatic 8 11']],
  'the attribute is off': [`p<<<4, 256, 0, s>>>(x);\n${early('s', '0')}`, []],
  'whether the attribute is on is not known': [`p<<<4, 256, 0, s>>>(x);\n${early('s', 'parameter')}`, []],
  'no kernel is known before it': [early('s'), ['programmatic ? 9']],
  'unknown code before it': [`p<<<4, 256, 0, s>>>(x);\nunknown();\n${early('s')}`, ['programmatic ? 11']],
  'a copy before it': [`p<<<4, 256, 0, s>>>(x);\ncudaMemcpyAsync(y, x, 64, cudaMemcpyDeviceToDevice, s);\n${early('s')}`, []],
  'an event before it': [`p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\n${early('s')}`, ['programmatic ? 11']],
  'the kernels before a kernel that starts early': [
    `p<<<4, 256, 0, s>>>(x);\n${early('s')}\n${early('s')}`,
    ['programmatic 7 10', 'programmatic 10 13', 'chain 7 13'],
  ],
  'three kernels before it': [
    `p<<<4, 256, 0, s>>>(x);\n${early('s')}\n${early('s')}\n${early('s')}`,
    ['programmatic 7 10', 'programmatic 10 13', 'chain 7 13', 'programmatic 13 16', 'chain 10 16', 'chain 7 16'],
  ],
  'a kernel between them that waits for all': [
    `p<<<4, 256, 0, s>>>(x);\n${early('s')}\np<<<4, 256, 0, s>>>(x);\n${early('s')}`,
    ['programmatic 7 10', 'programmatic 11 14'],
  ],
  'the host waits between them': [
    `p<<<4, 256, 0, s>>>(x);\n${early('s')}\ncudaStreamSynchronize(s);\n${early('s')}`,
    ['programmatic 7 10'],
  ],
  'an event between them': [
    `p<<<4, 256, 0, s>>>(x);\n${early('s')}\ncudaEventRecord(e, s);\n${early('s')}`,
    ['programmatic 7 10', 'programmatic ? 14'],
  ],
  'one of two kernels': [`if (parameter > 3) p<<<4, 256, 0, s>>>(x);\nelse p<<<8, 128, 0, s>>>(x);\n${early('s')}`, ['programmatic ? 11']],
};

test('a launch that may start early is found with the kernel before it', { skip: withoutNvcc }, async (context) => {
  const snippets = Object.values(earlyBodies).map(([body]) => ({
    text: `${kernels}\nvoid run(int parameter, void* parameter2) {\n${before}\n${body}\n}`,
    kernels: { '1cEPfPKf': [8, 8] },
  }));
  const { unordered } = await readUnit(context, snippets);
  const found = Object.fromEntries(Object.keys(earlyBodies).map((name, at) => [name, unordered[at]]));
  assert.deepEqual(found, Object.fromEntries(Object.entries(earlyBodies).map(([name, [, pairs]]) => [name, pairs])));
});

/** Bodies, and whether other operations may overlap with some launch, so that proofs assume that they do not. */
const assumed: Readonly<Record<string, readonly [body: string, mayOverlap: boolean]>> = {
  'one stream': ['p<<<4, 256, 0, s>>>(x);\nunknown();\nc<<<4, 256, 0, s>>>(y, x);', false],
  'streams that an event orders': [
    'p<<<4, 256, 0, s>>>(x);\ncudaEventRecord(e, s);\ncudaStreamWaitEvent(t, e, 0);\nc<<<4, 256, 0, t>>>(y, x);',
    false,
  ],
  'a stream and the default stream': ['p<<<4, 256, 0, s>>>(x);\nc<<<4, 256>>>(y, x);', false],
  'two streams that share no memory': ['p<<<4, 256, 0, s>>>(x);\np<<<4, 256, 0, t>>>(y);', false],
  'two streams without an order': ['p<<<4, 256, 0, s>>>(x);\nc<<<4, 256, 0, t>>>(y, x);', true],
  'two streams with unknown code between them': ['p<<<4, 256, 0, s>>>(x);\nunknown();\nc<<<4, 256, 0, t>>>(y, x);', true],
  'two streams, of which one path waits': [
    'p<<<4, 256, 0, s>>>(x);\nif (parameter > 3) cudaStreamSynchronize(s);\nc<<<4, 256, 0, t>>>(y, x);',
    true,
  ],
  'two streams in a loop': ['for (int i = 0; i < parameter; i++) {\np<<<4, 256, 0, s>>>(x); p<<<4, 256, 0, t>>>(y); }', true],
};

test('a launch that another stream may overlap with is marked unless the order is known', { skip: withoutNvcc }, async (context) => {
  const snippets = Object.values(assumed).map(([body]) => ({
    text: `${kernels}\nvoid run(int parameter, void* parameter2) {\n${before}\n${body}\n}`,
  }));
  const { launches } = await readUnit(context, snippets);
  const marked = Object.keys(assumed).map((name, at) => [name, launches[at]!.some(({ launch }) => launch.mayOverlap === true)]);
  assert.deepEqual(Object.fromEntries(marked), Object.fromEntries(Object.entries(assumed).map(([name, [, one]]) => [name, one])));
});
