import type { Severity } from './severity.ts';

/** One entry of the registry: what `selvage explain CODE` prints. */
export interface CodeEntry {
  readonly severity: Severity;
  /** One sentence. */
  readonly title: string;
  readonly explanation: string;
  readonly example: string;
  readonly remedy: string;
}

/** Every diagnostic and finding has a code here; a test checks that no other string is used as one. */
export const codes = {
  'race/shared': {
    severity: 'error',
    title: 'Two threads of a block access the same shared memory, at least one writes, and no barrier separates them.',
    explanation:
      'Between two barriers the threads of a block run in any order. When two of them touch the same bytes of shared memory and at least one access is a plain write, the result depends on that order.',
    example:
      's[t] = in[i];\nout[i] = s[blockDim.x - 1 - t];   // another thread wrote this element, no barrier between',
    remedy: 'Put __syncthreads() between the two accesses, where all threads of the block reach it, or use an atomic.',
  },
  'race/global': {
    severity: 'error',
    title: 'Two threads access the same global memory, at least one writes, and nothing orders them.',
    explanation:
      'A barrier orders the threads of one block only. Threads of different blocks that touch the same bytes, with at least one plain write, race unless the kernel ends in between or atomics and fences order them.',
    example: 'a[i] = a[i + 1];   // i + 1 belongs to the next block for the last thread',
    remedy: 'Write to another array, split the kernel in two launches, or use atomics with the right scope.',
  },
  'race/generic': {
    severity: 'error',
    title:
      'Two threads access the same memory through a pointer whose state space is not known, and at least one writes.',
    explanation: 'As race/shared and race/global, where the pointer may point to either.',
    example: 'void store(int* p) { *p = threadIdx.x; }',
    remedy: 'Separate the accesses with a barrier that both threads take part in, or use an atomic.',
  },
  'barrier/divergent': {
    severity: 'error',
    title: 'A barrier that some threads of a block reach and others do not.',
    explanation:
      '__syncthreads() must be reached by all threads of the block that have not returned. Under a condition that differs between threads the behaviour is undefined: a hang, or threads that meet at different barriers.',
    example: 'if (threadIdx.x < 16) { s[t] = 0; __syncthreads(); }',
    remedy: 'Move the barrier out of the branch, or make the condition the same for all threads of the block.',
  },
  'barrier/early-exit': {
    severity: 'warning',
    title: 'Some threads return before a barrier that others wait at.',
    explanation:
      'On sm_70 and later a thread that has returned counts as arrived, so the kernel does not hang; earlier architectures and the programming guide do not promise it.',
    example: 'if (i >= n) return;\n__syncthreads();',
    remedy: 'Guard the work instead of returning: if (i < n) { … } __syncthreads();',
  },
  'barrier/redundant': {
    severity: 'notice',
    title: 'A barrier that no two accesses need: the kernel is proved without it.',
    explanation:
      'Repair took the barrier away, compiled the file and proved the kernel again, under the same assumptions and for any values of its arguments. Barriers between atomics, volatile accesses or fences are never reported.',
    example: 's[t] = v;\n__syncthreads();\nout[i] = s[t];   // its own element: nobody else touches it',
    remedy: 'Remove the barrier, as `selvage repair` shows, unless something else relies on it.',
  },
  'barrier/deadlock': {
    severity: 'error',
    title: 'Threads that wait for each other, so that none can go on.',
    explanation:
      'In a run every thread of a block had returned or stood at a barrier, and no barrier had all the threads that it waits for. The positions of the threads are listed.',
    example: 'if (threadIdx.x < 32) barrier_sync(1); else barrier_sync(2);   // each of 64 threads',
    remedy: 'Let all threads that a barrier counts reach it, in the same order as the other barriers.',
  },
  'memory/out-of-bounds': {
    severity: 'error',
    title: 'An access outside of the array that its address belongs to.',
    explanation:
      'In a run a thread read or wrote bytes before the start or past the end of an array, of shared memory or of local memory. On hardware it reaches other data, or the launch fails.',
    example: 'out[i] = 0;   // i is n in the last thread: the guard `if (i < n)` is missing',
    remedy: 'Guard the access, or give the run an array as large as the launch needs.',
  },
  'memory/misaligned': {
    severity: 'error',
    title: 'An access whose address is no multiple of its size.',
    explanation:
      'The hardware reads and writes 2, 4, 8 and 16 bytes at multiples of that size only; the launch fails otherwise.',
    example: '*(float4*)(a + 1)   // 4 bytes past a multiple of 16',
    remedy: 'Access single elements, or make the start of the array aligned.',
  },
  'memory/read-only': {
    severity: 'error',
    title: 'A write to memory that a kernel may not write.',
    explanation: 'In a run a thread wrote to a parameter or to constant memory through a generic address.',
    example: '*const_cast<int*>(&table[i]) = 0;   // __constant__ int table[64]',
    remedy: 'Write to an array in global memory.',
  },
  'memory/uninitialised': {
    severity: 'warning',
    title: 'A read of memory that nobody has written.',
    explanation:
      'In a run a thread read shared or local memory, or an array given as `uninitialised`, before any thread had written there. What it reads is whatever was there before.',
    example: '__shared__ int sum;\nsum += a[i];   // sum = 0; is missing',
    remedy: 'Write the memory first, with a barrier between where another thread reads it.',
  },
  'run/trap': {
    severity: 'error',
    title: 'A kernel that ended with a trap.',
    explanation: 'A thread executed __trap(), or an assertion of it failed. On hardware the launch fails.',
    example: 'assert(i < n);',
    remedy: 'Look at the thread and line that are named; --trace shows the way there.',
  },
  'run/unsupported': {
    severity: 'error',
    title: 'A run that reached an instruction which the interpreter cannot execute.',
    explanation:
      'What the instruction does is not known, so nothing of the run after it is to be relied on. The exit code is 3.',
    example: 'asm("setmaxnreg.inc.sync.aligned.u32 64;");',
    remedy: 'Run a kernel without it, or report it.',
  },
  'run/budget': {
    severity: 'error',
    title: 'A run that took more instructions than it may.',
    explanation:
      'The run was ended after --steps thread-instructions. The message says where a thread was: often in a loop that never ends. The exit code is 3.',
    example: 'while (flag[0] == 0) { }   // nobody sets it',
    remedy: 'Correct the loop, make the launch smaller, or allow more with --steps.',
  },
  'run/race-limit': {
    severity: 'notice',
    title: 'A run that was ended because it had found enough races.',
    explanation: 'Each pair of instructions that races is told of once; after a thousand pairs the run ends.',
    example: 'selvage run all-wrong.cu --kernel everything --block 32 --grid 1',
    remedy: 'Correct some of them, or look at some arrays only with --track.',
  },
  'run/assumption': {
    severity: 'warning',
    title: 'A run with arguments that the code says it never gets.',
    explanation: 'SELVAGE_ASSUME was reached with a condition that does not hold, so what the run shows means nothing.',
    example: 'SELVAGE_ASSUME(n % 32 == 0);   // --arg n=100',
    remedy: 'Give other arguments, or correct the assumption.',
  },
  'run/unknown-value': {
    severity: 'notice',
    title: 'A run that rests on values which the interpreter cannot compute.',
    explanation:
      'Textures, the clock and some special registers have no value here; 0 stands for them. What depends on them may differ from a run on hardware.',
    example: 'float v = tex2D<float>(image, x, y);',
    remedy: 'Take the outputs and findings that depend on them with care.',
  },
  'ptx/syntax': {
    severity: 'error',
    title: 'A statement of a PTX file that cannot be read.',
    explanation:
      'The text is not PTX at this place: a missing semicolon, an unbalanced brace, a character that does not belong there. Statements before and after it are read, but a kernel that holds it is never proved.',
    example: 'add.s32 %r1, %r2 %r3;   // a comma is missing',
    remedy: 'Correct the statement, or write the file again with nvcc -ptx.',
  },
  'ptx/literal': {
    severity: 'error',
    title: 'A literal of a PTX file that is malformed or does not fit in 64 bits.',
    explanation:
      'Integers are decimal, 0x hexadecimal, 0b binary or octal with a leading 0, with an optional U. 0f is followed by exactly 8 hexadecimal digits, 0d by exactly 16.',
    example: 'mov.f32 %f1, 0f3F8;   // 0f3F800000',
    remedy: 'Correct the literal.',
  },
  'ptx/header': {
    severity: 'error',
    title: 'A PTX file that does not begin with .version and .target.',
    explanation: 'Both directives must stand at the beginning of a module, in this order; .address_size is optional.',
    example: '.target sm_80   // .version is missing',
    remedy: 'Write the file again with nvcc -ptx, or add the directives.',
  },
  'ptx/truncated': {
    severity: 'error',
    title: 'A PTX file that ends in the middle of something.',
    explanation:
      'The text stops before the closing brace of a function or in a statement or comment. What stands before is read; the function that was cut is never proved.',
    example: '.entry k() { ret;   // end of the file',
    remedy: 'Write the whole file again with nvcc -ptx.',
  },
  'ptx/marker': {
    severity: 'error',
    title: 'A selvage comment in PTX whose operand is missing or malformed.',
    explanation:
      'The comments `selvage.assume`, `selvage.unknown` and `SELVAGE_CANDIDATE` take one register or one literal.',
    example: '// selvage.assume %r1, %r2;',
    remedy: 'Give one register or literal, as in `// selvage.assume %r1;`.',
  },
  'ptx/limit': {
    severity: 'error',
    title: 'A PTX file beyond a limit of the parser.',
    explanation:
      'Scopes, vectors and expressions may be nested only so deep, and only so many errors of a file are listed.',
    example: '{ { { … } } }   // hundreds of scopes',
    remedy: 'Simplify the text.',
  },
  'ptx/undeclared': {
    severity: 'error',
    title: 'A register or symbol of a PTX file that is used and not declared.',
    explanation: 'Registers and variables are declared before their use, in the same scope or one around it.',
    example: 'mov.u32 %r5, 0;   // with .reg .b32 %r<5>, which declares %r0 to %r4',
    remedy: 'Declare it before this line.',
  },
  'ptx/duplicate': {
    severity: 'error',
    title: 'A name of a PTX file that is declared twice.',
    explanation: 'Registers, variables and labels are declared once in a scope; a function has one body.',
    example: '.reg .b32 a;\n.reg .b64 a;',
    remedy: 'Rename or remove one of the two.',
  },
  'ptx/undefined-label': {
    severity: 'error',
    title: 'A branch of a PTX file to a label that is not there.',
    explanation: 'The label must stand in the same function, in the scope of the branch or one around it.',
    example: 'bra $L__BB0_9;   // no $L__BB0_9: in this function',
    remedy: 'Put the label into the function.',
  },
  'ptx/no-body': {
    severity: 'error',
    title: 'A kernel of a PTX file that is declared and has no body.',
    explanation: 'There is nothing to analyse.',
    example: '.visible .entry k(.param .u64 p);',
    remedy: 'Give the entry a body, or remove the declaration.',
  },
  'ptx/unknown-instruction': {
    severity: 'warning',
    title: 'A PTX instruction that Selvage does not know.',
    explanation:
      'Its effect is unknown, so a kernel that can execute it is never proved; races found elsewhere in it still count.',
    example: 'frobnicate.sync.b32 %r1, %r2;',
    remedy: 'Report it, or keep the instruction out of the kernels that are to be proved.',
  },
  'ptx/undefined-function': {
    severity: 'warning',
    title: 'A call of a function that has no body in the module.',
    explanation:
      'Functions of other translation units (relocatable device code) and of the device runtime may do anything, so a kernel that calls one is never proved.',
    example: 'call.uni (retval0), defined_elsewhere, (param0);',
    remedy: 'Define the function in the same unit, for example in a header.',
  },
  'input/unreadable': {
    severity: 'error',
    title: 'An input file that cannot be read.',
    explanation:
      'The file was there when the inputs were listed, but reading it failed: it was removed, or access is denied.',
    example: 'selvage check kernel.ptx   // with no permission to read it',
    remedy: 'Check the permissions and run again.',
  },
  'input/no-unit': {
    severity: 'error',
    title: 'A header that no unit includes.',
    explanation:
      'Headers are compiled through the .cu files that include them. No .cu file of the repository includes this one, directly or through other headers, so there is nothing to compile.',
    example: 'selvage check include/reduce.cuh   // and no .cu file includes reduce.cuh',
    remedy: 'Name a .cu file that includes the header; instantiate templates there.',
  },
  'launch/out-of-range': {
    severity: 'warning',
    title: 'A launch whose dimensions no device allows.',
    explanation:
      'The launch always fails at run time (a block of more than 1024 threads, an extent of 0), so it is left out of the analysis.',
    example: 'kernel<<<64, dim3(64, 32)>>>(p);   // 2048 threads',
    remedy: 'Launch within the limits: 1024 threads a block, 64 in z, 65535 blocks in y and z.',
  },
  'launch/not-evaluated': {
    severity: 'notice',
    title: 'A launch whose dimensions could not be evaluated.',
    explanation:
      'The dimensions of this launch depend on values that are only known at run time. The kernel is analysed for the launches that could be evaluated, and a proof speaks of those alone.',
    example: 'kernel<<<blocksFor(n), threads>>>(p, n);',
    remedy:
      'State the dimensions: `--block` and `--grid`, an entry in .selvage.yml, or a comment `// selvage: block=256 grid=64` above the kernel.',
  },
  'launch/block-mismatch': {
    severity: 'warning',
    title: 'A launch that contradicts the block size the kernel was compiled for.',
    explanation:
      'A kernel with .reqntid can only be launched with that block, and one with __launch_bounds__ with at most so many threads. Any other launch fails at run time.',
    example: '__global__ void __launch_bounds__(128) k(float* p);   // k<<<1, 256>>>(p) fails',
    remedy: 'Make launch and bounds agree.',
  },
  'launch/bad-argument': {
    severity: 'warning',
    title: 'A value for a parameter that cannot hold it.',
    explanation:
      'Values can be given for scalar parameters: whole numbers, truth values and floating-point numbers that fit the type. Pointers and structs have none.',
    example: '--arg out=7   // out is a float*',
    remedy: 'Give a value of the type of the parameter, or leave it out.',
  },
  'assumption/syntax': {
    severity: 'error',
    title: 'An assumption that is not in the assumption language.',
    explanation:
      'Assumptions are comparisons joined with && || !, over + - * / % << & |, whole numbers, parameters and their fields, blockDim, gridDim and warpSize, or one of distinct(A), A[*] in lo..hi (hi included), apart(A, B), extent(A) >= n. The column says where the text leaves the language.',
    example: '// selvage: assume(n & 31 == 0)   // C reads n & (31 == 0)',
    remedy: 'Write it in the language, for example assume((n & 31) == 0), or leave it out.',
  },
  'assumption/contradictory': {
    severity: 'error',
    title: 'Assumptions that no launch can meet.',
    explanation:
      'The assumptions stated of a kernel exclude each other, or the launch that is analysed. From a contradiction everything follows, so nothing is proved. All sources add up: options, .selvage.yml, and the comment above the kernel.',
    example: '// selvage: block=128 assume(blockDim.x == 256)',
    remedy: 'Correct or remove one of the assumptions, or the launch.',
  },
  'annotation/out-of-range': {
    severity: 'error',
    title: 'A `// selvage:` comment with a launch that no device allows.',
    explanation:
      'The extents or the shared memory of the comment are beyond the limits of every device, so such a launch always fails. They are left out; the rest of the comment is used.',
    example: '// selvage: block=64,64   // 4096 threads',
    remedy: 'State a launch within the limits: 1024 threads a block, 64 in z, 232448 bytes of dynamic shared memory.',
  },
  'annotation/syntax': {
    severity: 'error',
    title: 'A `// selvage:` comment that cannot be read.',
    explanation:
      'The comment above a kernel takes block=X,Y,Z grid=X,Y,Z cluster=X,Y,Z shared=BYTES cooperative assume(…) arg(name=value). What cannot be read is left out; the rest is used.',
    example: '// selvage: blok=256',
    remedy: 'Correct the word or value that the message names.',
  },
  'annotation/stray': {
    severity: 'warning',
    title: 'A `// selvage:` comment that stands at no kernel.',
    explanation: 'Annotations belong to the kernel whose definition they stand right above; this one is used for none.',
    example: '// selvage: block=256\nint unrelated;',
    remedy: 'Move the comment to the line above the kernel, or remove it.',
  },
  'suppression/malformed': {
    severity: 'error',
    title: 'A suppression that names no known code or no reason.',
    explanation: 'A suppression says which finding it silences and why, so that a reader can judge it.',
    example: '// selvage-ignore race/shared',
    remedy: 'Write // selvage-ignore CODE: reason.',
  },
  'config/yaml': {
    severity: 'error',
    title: 'A configuration that is not YAML.',
    explanation: 'The file .selvage.yml does not parse, so nothing of it is used and no analysis is run.',
    example: 'kernels: [ { match: "reduce*" }',
    remedy: 'Correct the YAML at the line and column of the message.',
  },
  'config/unknown-key': {
    severity: 'error',
    title: 'A key that the configuration does not have.',
    explanation: 'Unknown keys are refused: a misspelt one would otherwise do nothing without a word.',
    example: 'kernel:\n  - match: "*"   # the key is called kernels',
    remedy: 'Use the key that the message proposes, or remove it.',
  },
  'config/wrong-type': {
    severity: 'error',
    title: 'A value in the configuration that its key cannot have.',
    explanation: 'The value has another type, or is outside the values that the key takes.',
    example: 'arch: sm_80   # a list: [sm_80]',
    remedy: 'Give a value of the kind that the message names.',
  },
  'config/missing-key': {
    severity: 'error',
    title: 'A configuration that lacks a key it needs.',
    explanation:
      'Some entries mean nothing without it: the version of the file, the kernels that an entry is for, the reason of a suppression.',
    example: 'suppress: [{ code: race/global }]   # no reason',
    remedy: 'Add the key.',
  },
  'config/version': {
    severity: 'error',
    title: 'A configuration of a version that this program does not know.',
    explanation: 'The key `version` says how the file is to be read. This program reads version 1.',
    example: 'version: 2',
    remedy: 'Write version: 1, or use a newer Selvage.',
  },
  'cost/sectors': {
    severity: 'notice',
    title: 'A change makes warps touch more sectors of global memory.',
    explanation:
      'The bound counts one warp in its worst case. A sector is 32 bytes, the unit in which global memory is read and written: 32 lanes that access neighbouring floats touch 4, lanes that are 32 floats apart touch 32.',
    example: 'float v = a[threadIdx.x * 32];   // before: a[threadIdx.x]',
    remedy: 'Let neighbouring lanes access neighbouring elements, or state a threshold in `checks.cost.sectors`.',
  },
  'cost/conflicts': {
    severity: 'notice',
    title: 'A change makes accesses to shared memory take more turns.',
    explanation:
      'The bound counts one warp in its worst case. Shared memory has 32 banks of 4 bytes; lanes that access different words of one bank take turns.',
    example: '__shared__ float tile[32][32];   // before: tile[32][33]; tile[threadIdx.x][0] now takes 32 turns',
    remedy: 'Pad rows, or exchange the indices, so that the lanes of a warp use different banks.',
  },
  'cost/divwarps': {
    severity: 'notice',
    title: 'A change makes warps split at more branches.',
    explanation:
      'The bound counts one warp in its worst case. Where lanes of a warp decide a branch differently, the warp executes both sides, one after the other.',
    example: 'if (threadIdx.x % 2) a(); else b();',
    remedy: 'Let the condition be the same for all lanes of a warp, for example by the number of the warp.',
  },
  'cost/steps': {
    severity: 'notice',
    title: 'A change makes warps execute more instructions.',
    explanation:
      'The bound counts one warp in its worst case. Without thresholds only another order of growth is reported, and at least twice as many instructions.',
    example: 'for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)   // before: one loop',
    remedy: 'Look at the line that the message names; state a threshold in `checks.cost.steps`.',
  },
  'cost/work': {
    severity: 'notice',
    title: 'A change makes warps keep the multiprocessor busy for longer.',
    explanation:
      'The bound counts one warp in its worst case. Work is instructions, extra turns at shared memory, and sectors. It is compared only where a threshold is configured.',
    example: 'checks: { cost: { work: { warn: "+10%" } } }',
    remedy: 'Look at the line that the message names, or at the metrics that make up the work.',
  },
  'cost/span': {
    severity: 'notice',
    title: 'A change makes a warp take longer from its first to its last instruction.',
    explanation:
      'The bound counts one warp in its worst case. Span is work and the latency of each access, one after the other. It is compared only where a threshold is configured.',
    example: 'checks: { cost: { span: { warn: "+10%" } } }',
    remedy: 'Look at the line that the message names; fewer accesses that wait for each other make it shorter.',
  },
  'resource/registers': {
    severity: 'notice',
    title: 'A change makes threads use more registers.',
    explanation:
      'Registers of a thread as the assembler reports them for the optimised build. They are compared where a threshold is configured; without one only occupancy is.',
    example: 'checks: { cost: { registers: { warn: "+4" } } }',
    remedy: 'Look at what the change keeps alive; __launch_bounds__ makes the compiler use fewer.',
  },
  'resource/shared': {
    severity: 'notice',
    title: 'A change makes blocks use more shared memory.',
    explanation:
      'Static shared memory as the assembler reports it, and the dynamic one of the launch. It is compared where a threshold is configured; without one only occupancy is.',
    example: 'checks: { cost: { sharedBytes: { warn: "+0%" } } }',
    remedy: 'Use smaller arrays, or let arrays that are not used together share memory.',
  },
  'resource/spills': {
    severity: 'notice',
    title: 'A change makes threads spill registers to memory.',
    explanation:
      'Values that do not fit the registers of a thread are stored to local memory and loaded again, as the assembler reports for the optimised build.',
    example: '#pragma unroll 32   // 32 values at once, under __launch_bounds__(1024)',
    remedy: 'Unroll less, or allow more registers with __launch_bounds__.',
  },
  'resource/occupancy': {
    severity: 'notice',
    title: 'A change lets fewer warps be on a multiprocessor at once.',
    explanation:
      'Registers, shared memory and the size of the block decide how many blocks a multiprocessor holds, by the published limits of the architecture.',
    example: '__shared__ float tile[24576];   // before: 12288, two blocks instead of one',
    remedy: 'Use less of what the message says limits it.',
  },
  'limit/exceeded': {
    severity: 'error',
    title: 'A kernel exceeds a limit that is configured for it.',
    explanation:
      'The limits of an entry of `kernels` hold for the kernels that it matches: resources of the optimised build, occupancy at its launch, and bounds of one warp, which are compared as expressions, and at the reference arguments where that does not decide.',
    example: 'limits: { sectors: "<= 8*ceil(n/32)" }',
    remedy: 'Change the kernel at the line that the message names, or the limit.',
  },
  'limit/not-compared': {
    severity: 'notice',
    title: 'A limit that could not be compared with what the kernel costs.',
    explanation:
      'There is no bound, no report of the assembler, no block, or the two bounds are larger than each other for different arguments and no reference arguments are given.',
    example: 'limits: { sectors: "<= 4*m" }   # the kernel reads n elements',
    remedy: 'Give reference arguments with `args`, a block, or a limit in the names that the bound has.',
  },
  'limit/launch-bounds': {
    severity: 'warning',
    title: 'A kernel cannot be on a multiprocessor as often as its launch bounds say.',
    explanation:
      'The second number of __launch_bounds__ is how many blocks the compiler is to make room for. It can give them registers, but shared memory or the size of the block may keep them out.',
    example: '__global__ void __launch_bounds__(256, 4) k() { __shared__ float s[24576]; }   // 96 KB a block',
    remedy: 'Use less shared memory, or ask for fewer blocks.',
  },
  'launch/refused': {
    severity: 'error',
    title: 'A launch that the architecture refuses.',
    explanation:
      'A block with more threads, registers or shared memory than a multiprocessor has cannot be launched: the launch returns an error, and the kernel does not run.',
    example: 'kernel<<<grid, 1024>>>();   // 96 registers a thread: 98304 of 65536',
    remedy: 'Use smaller blocks, or __launch_bounds__ so that the compiler uses fewer registers.',
  },
  'config/threshold': {
    severity: 'error',
    title: 'A threshold in the configuration that means nothing.',
    explanation:
      'A threshold says how much worse is too much: more of a cost (+5%, +4), less occupancy (-10 points, -20%). The one that warns is not looser than the one that fails.',
    example: 'cost: { sectors: { warn: "+50%", fail: "+25%" } }   # never warns',
    remedy: 'Write the change for the worse, and the smaller one under `warn`.',
  },
  'config/limit': {
    severity: 'error',
    title: 'A limit in the configuration that cannot be read.',
    explanation:
      'A limit is a number, a least share of occupancy (>= 50%), or a bound from above in the names of parameters and dimensions, with + - * / floor ceil min max log2.',
    example: 'limits: { sectors: "<= 8*n/32)" }',
    remedy: 'Correct the limit at the line and column of the message.',
  },
  'assumption/unknown-name': {
    severity: 'warning',
    title: 'An assumption about a parameter that the kernel does not have.',
    explanation:
      'The assumption names a parameter that no kernel of this name has, so it is not used for it. In PTX without source parameters are called param0, param1, ….',
    example: '// selvage: assume(size % 32 == 0)   // the parameter is called n',
    remedy: 'Use the name in the declaration of the kernel, or param0, param1, ….',
  },
  'suppression/unused': {
    severity: 'notice',
    title: 'A suppression that suppresses nothing.',
    explanation:
      'The finding it was written for is gone, or it stands in another place. Stale suppressions hide the next defect.',
    example: '// selvage-ignore race/shared: fixed long ago',
    remedy: 'Remove the suppression, or put it on the line of the finding or the line above.',
  },
  'suppression/expired': {
    severity: 'warning',
    title: 'A suppression whose last day is over.',
    explanation: 'A suppression in .selvage.yml may have an `until` date. After that day the finding counts again.',
    example: '{ code: race/global, reason: "rewrite planned", until: 2025-01-31 }',
    remedy: 'Fix the finding, or set a later date.',
  },
  'review/base-not-compared': {
    severity: 'notice',
    title: 'The base of the change could not be analysed, so its findings all count as new.',
    explanation:
      'A unit of the base revision does not compile here (a submodule that is not checked out, a toolkit too new). Findings of the head cannot be told apart into new and old ones.',
    example: 'error: base revision: kernel.cu does not compile',
    remedy: 'Make the base compile with the same toolkit, or read the findings as if all were new.',
  },
  'internal/defect': {
    severity: 'error',
    title: 'A defect of Selvage itself.',
    explanation:
      'An invariant of the analyser broke. The kernel has no verdict; other kernels are not affected. The message on standard error says where the input was saved.',
    example: 'selvage: a defect of Selvage in kernel reduce: …',
    remedy: 'Report it with the saved input.',
  },
  'compile/no-compiler': {
    severity: 'error',
    title: 'No nvcc was found, and a CUDA file needs one.',
    explanation:
      'CUDA files are compiled to PTX first. nvcc is looked for under --nvcc, on PATH, in CUDA_HOME and CUDA_PATH, and in the usual folders such as /usr/local/cuda.',
    example: 'selvage check reduce.cu   # on a machine without the CUDA toolkit',
    remedy:
      'In a workflow add a step such as Jimver/cuda-toolkit; on a machine install the package cuda-nvcc (apt or conda); or name one with --nvcc PATH or CUDA_HOME. PTX files need none.',
  },
  'compile/failed': {
    severity: 'error',
    title: 'A CUDA file that does not compile.',
    explanation:
      'nvcc reported an error, so the kernels of this file are not known and nothing is said of them. In a pull request the words of the compiler are in the log of the run only.',
    example: 'reduce.cu(12): error: identifier "blockdim" is undefined',
    remedy:
      'Correct the error, or give the flags that the build uses (nvcc.args or nvcc.compile-commands in .selvage.yml).',
  },
  'compile/refused': {
    severity: 'error',
    title: 'The assembler refuses a unit, so nothing of it can run on the architecture.',
    explanation:
      'nvcc translates the unit to PTX, but ptxas does not make machine code of it, for example because a kernel has more static shared memory than a block may have. Races and divergence are still checked; registers and occupancy are not known.',
    example: '__shared__ float s[16384];   // 64 KB: static shared memory ends at 48 KB',
    remedy: 'Correct what the message names, or choose another architecture.',
  },
  'compile/removed-api': {
    severity: 'notice',
    title: 'A use of something that this CUDA toolkit no longer has.',
    explanation:
      'Texture references, cudaThreadSynchronize, __shfl without a mask and others were removed, so the file compiles with an older toolkit only.',
    example: 'cudaThreadSynchronize();   // removed in CUDA 13',
    remedy: 'Use what the message names, or an older toolkit.',
  },
  'compile/limit': {
    severity: 'error',
    title: 'A compilation that was stopped.',
    explanation: 'nvcc ran longer than it may, printed more than it may, or was ended from outside.',
    example: 'template <int N> struct F { using T = typename F<N + 1>::T; };',
    remedy: 'Make the file smaller, or allow more time with --timeout.',
  },
  'compile/flag-refused': {
    severity: 'error',
    title: 'A compiler flag that a pull request may not set.',
    explanation:
      'Options such as -ccbin, -Xcompiler and --options-file run programs or read files, and the flags of a pull request are not trusted. Include paths, macros, the language standard and what steers device code are allowed.',
    example: 'nvcc: { args: ["-ccbin=./evil.sh"] }',
    remedy: 'Remove the flag, or set it where only the owner of the repository can: in the workflow.',
  },
  'compile/include-outside': {
    severity: 'error',
    title: 'A CUDA file that reads a file outside of the repository and the toolkit.',
    explanation:
      'What a file includes ends up in messages and PTX, so in a pull request every included file must lie in the repository, the toolkit or the folders of the host compiler, after links are followed; and not in .git.',
    example: '#include "/home/runner/.netrc"',
    remedy: 'Put the header into the repository, or install it where the host compiler looks.',
  },
  'compile/embedding': {
    severity: 'error',
    title: 'A CUDA file that embeds the bytes of other files.',
    explanation: '#embed and the assembler directive .incbin read any file; in a pull request they are refused.',
    example: 'asm(".incbin \\"secret.bin\\"");',
    remedy: 'Put the data into an array in a source file.',
  },
  'compile/unsafe-name': {
    severity: 'error',
    title: 'A path that nvcc would hand to a shell.',
    explanation:
      'nvcc runs its phases through a shell that expands $(…) and backquotes in the names it is given. Files whose path holds such characters are not compiled.',
    example: 'kernels/$(id).cu',
    remedy: 'Rename the file or folder.',
  },
  'compile/selvage-macro': {
    severity: 'warning',
    title: 'A source file that asks whether it is being checked.',
    explanation:
      'The verification build defines __SELVAGE__ for selvage.h. Code that tests it elsewhere can show the checks another program than the one that runs.',
    example: '#ifndef __SELVAGE__\n  s[t] = s[t + 1];\n#endif',
    remedy: 'Use SELVAGE_ASSUME and SELVAGE_HAVOC of selvage.h instead; reports list them.',
  },
  'compile/commands': {
    severity: 'error',
    title: 'A compilation database that cannot be read.',
    explanation: 'compile_commands.json is a list of entries with a file, a directory, and a command or its arguments.',
    example: '[{ "file": "reduce.cu" }]   // no command',
    remedy: 'Let the build write it again, for instance with CMAKE_EXPORT_COMPILE_COMMANDS.',
  },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof codes;
