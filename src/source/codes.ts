import { type MetricCode, metricTable } from '../cost/model/metrics.ts';
import type { CodeEntry } from './code-entry.ts';
import { launchCodes } from './launch-codes.ts';
import { orderingCodes } from './ordering-codes.ts';

/** One code for the regression of each metric. */
const metricCodes = Object.fromEntries(
  Object.values(metricTable).map(({ code, explain }) => [code, { severity: 'notice', ...explain }]),
) as Readonly<Record<MetricCode, CodeEntry>>;

/** Every diagnostic and finding has a code here; a test checks that no other string is used as one. */
export const codes = {
  'race/shared': {
    severity: 'error',
    title: 'Two threads of a block access the same shared memory, at least one writes, and no barrier separates the accesses.',
    explanation:
      'Between two barriers the threads of a block run in any order. Two threads race if they access the same bytes of shared memory, at least one of them writes, and the two accesses are not both atomic (`atomicAdd()`, `cuda::atomic_ref`). The result then depends on the order.',
    example: 's[t] = in[i];\nout[i] = s[blockDim.x - 1 - t];   // another thread wrote this element; no barrier in between',
    remedy: 'Add __syncthreads() between the two accesses, at a place that all threads of the block reach, or use an atomic.',
  },
  'race/global': {
    severity: 'error',
    title: 'Two threads access the same global memory, at least one writes, and nothing orders them.',
    explanation:
      '__syncthreads() orders the threads of one block only. Two threads race if they access the same bytes, at least one of them writes, and the two accesses are not both atomic (`atomicAdd()`, `cuda::atomic_ref`). Atomics of block scope are atomic only to threads of the same block. Only the end of the kernel, a barrier of the whole grid, or atomics with fences can order threads of different blocks.',
    example: 'a[i] = a[i + 1];   // i + 1 belongs to the next block for the last thread',
    remedy:
      'If both threads are in one block, add __syncthreads() between the two accesses. Otherwise write the result to another array, split the kernel into two launches, or use atomics of device scope.',
  },
  'race/generic': {
    severity: 'error',
    title: 'Two threads access the same memory through a pointer whose state space is unknown, and at least one writes.',
    explanation:
      'The pointer may refer to shared or to global memory. In either case nothing orders the two accesses; see race/shared and race/global.',
    example: 'void store(int* p) { *p = threadIdx.x; }',
    remedy: 'Separate the accesses with a barrier that both threads take part in, or use an atomic.',
  },
  'race/volatile': {
    severity: 'warning',
    title: 'Two threads access the same memory, at least one writes, and volatile is all that they rely on.',
    explanation:
      'In CUDA C++ a volatile access is not an atomic operation: two threads race when one of them writes, at least one access is volatile, the other is volatile or atomic, and no barrier orders them. In PTX such accesses are relaxed and do not race, but they order nothing else, and the compiler may split those of more than 8 bytes. Locks that an atomic takes and one store releases, and flags that one thread stores and others only wait for in a loop, are recognised and not reported.',
    example: 'volatile unsigned* v = s;\nv[t] = x;\ny = v[t - 1];   // another thread wrote this element; no barrier in between',
    remedy:
      'Use cuda::atomic_ref, or add __syncthreads() or __syncwarp() between the accesses. `checks.race.volatile: allow` in .selvage.yml takes volatile accesses for relaxed atomics.',
  },
  'barrier/divergent': {
    severity: 'error',
    title: 'Some threads of a block reach a barrier and others do not.',
    explanation:
      'All threads of the block that have not returned must reach the same __syncthreads(). Under a condition that differs between threads the behaviour is undefined: the kernel may hang, or threads may wait at different barriers.',
    example: 'if (threadIdx.x < 16) { s[t] = 0; __syncthreads(); }',
    remedy: 'Move the barrier out of the branch, or make the condition the same for all threads of the block.',
  },
  'barrier/early-exit': {
    severity: 'warning',
    title: 'Some threads return before a barrier at which the other threads wait.',
    explanation:
      'On sm_70 and later a barrier does not wait for threads that have returned (CUDA programming guide), so the kernel does not hang. Earlier architectures do not guarantee this.',
    example: 'if (i >= n) return;\n__syncthreads();',
    remedy: 'Put the work under the condition instead of returning: if (i < n) { … } __syncthreads();',
  },
  'barrier/redundant': {
    severity: 'notice',
    title: 'No two accesses need this barrier: the kernel is proved race-free without it.',
    explanation:
      'Selvage removed the barrier, compiled the file and proved the kernel again, under the same assumptions and for all values of its arguments. It never reports barriers between atomics, volatile accesses or fences.',
    example: 's[t] = v;\n__syncthreads();\nout[i] = s[t];   // each thread reads its own element',
    remedy: 'Remove the barrier as `selvage repair` shows, unless other code relies on it.',
  },
  'barrier/deadlock': {
    severity: 'error',
    title: 'The threads of a block wait for each other, and none can continue.',
    explanation:
      'In a run every thread of a block had returned or was waiting at a barrier, and no barrier had all the threads it waits for. The message lists where the threads are.',
    example: 'if (threadIdx.x < 32) __barrier_sync(1); else __barrier_sync(2);   // each waits for all 64 threads',
    remedy: 'Make sure that every thread a barrier counts reaches it, and that all threads reach the barriers in the same order.',
  },
  'warp/missing-lanes': {
    severity: 'error',
    title: 'A shuffle, vote or warp barrier waits for a lane that never executes it with that mask.',
    explanation:
      'An instruction with a mask waits for all lanes that the mask contains, except for those that have exited; all of them must execute it with the same mask (PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync, bar.warp.sync). If a lane of the mask waits elsewhere, such as at __syncthreads(), the kernel hangs or reads wrong values. Matrix instructions (mma, wmma, ldmatrix, stmatrix) must be executed by all lanes of the warp.',
    example: 'if (i < n) v += __shfl_down_sync(0xffffffff, v, 1);   // lanes with i >= n are in the mask, too\n__syncthreads();',
    remedy: 'Move the instruction to where all lanes of the mask execute it, and let them run equally many iterations of a loop around it.',
  },
  'warp/outside-mask': {
    severity: 'error',
    title: 'A lane executes a shuffle, vote or warp barrier with a mask that does not contain it.',
    explanation:
      'The mask must contain the lane that passes it; otherwise the behaviour is undefined (PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync, bar.warp.sync).',
    example: 'unsigned mask = __ballot_sync(0xffffffff, lane < 16);\nif (lane <= 16) __syncwarp(mask);   // lane 16 is not in the mask',
    remedy: 'Compute the mask from the same condition under which lanes execute the instruction.',
  },
  'warp/undefined-value': {
    severity: 'warning',
    title: 'A shuffle reads the value of a lane that does not take part, and the value is used.',
    explanation:
      'A lane that has exited, that does not exist because the block is not a multiple of 32, or that the mask does not contain passes no value: what others read from it is undefined (PTX ISA: shfl.sync). Selvage repeats the run with another value in its place, and reports the shuffle only if that changes the memory that the kernel leaves, or the path of a thread.',
    example:
      'if (i >= n) return;\nfor (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);   // reads lanes that have returned',
    remedy: 'Let all lanes of the mask execute the shuffle before they return, with a neutral value in a sum, and guard only what follows.',
  },
  'memory/out-of-bounds': {
    severity: 'error',
    title: 'A thread accesses memory outside the array that its address belongs to.',
    explanation:
      'In a run a thread read or wrote before the start or past the end of an array. On a GPU such an access reads or overwrites other data, or the kernel fails with cudaErrorIllegalAddress.',
    example: 'out[i] = 0;   // the last thread has i == n: the check `if (i < n)` is missing',
    remedy: 'Check the index before the access, or give the run an array as large as the launch needs.',
  },
  'memory/index-overflow': {
    severity: 'error',
    title: 'An index that is computed in 32 bits wraps around.',
    explanation:
      'A product or a sum of `int` values above 2147483647 becomes negative, and one of `unsigned` values above 4294967295 starts again at 0. Widened to an address afterwards, it names another element, or none. The code is right for small arrays and wrong for large ones.',
    example: 'out[blockIdx.x * columns + threadIdx.x] = x;   // 262144 rows of 12288 columns: the product is above 2^31',
    remedy:
      'Compute the index in 64 bits: convert one factor first, as in `size_t(blockIdx.x) * columns`. selvage repair prints such an edit where the types of interfaces allow it.',
  },
  'memory/misaligned': {
    severity: 'error',
    title: 'The address of an access is not a multiple of its size.',
    explanation:
      'The GPU accesses 2, 4, 8 and 16 bytes only at multiples of that size, and a `float4` is one access of 16 bytes. At any other address the kernel fails with cudaErrorMisalignedAddress. An access whose address depends on an argument, such as the pitch of an image, is a notice that names the multiple, unless the launch or the kernel ensures it.',
    example: '*(float4*)(a + 1)   // 4 bytes past a multiple of 16',
    remedy: 'Access single elements, or make the start of the array, its pitch and each offset multiples of the size of the access.',
  },
  'memory/read-only': {
    severity: 'error',
    title: 'A thread writes to memory that a kernel must not write.',
    explanation: 'In a run a thread wrote to a kernel parameter or to constant memory through a generic address.',
    example: '*const_cast<int*>(&table[i]) = 0;   // __constant__ int table[64]',
    remedy: 'Write to an array in global memory.',
  },
  'memory/uninitialised': {
    severity: 'warning',
    title: 'A thread reads memory that no thread has written.',
    explanation:
      'In a run a thread read shared memory, local memory or an array given as `uninitialised` before any thread had written it. The value is the earlier contents of the memory. For `check` it is an error if the value reaches global memory, an index or a branch.',
    example: '__shared__ int sum;\nsum += a[i];   // sum = 0; is missing',
    remedy: 'Initialise the memory first. If another thread reads it, put a barrier after the write.',
  },
  'run/trap': {
    severity: 'error',
    title: 'A thread executed a trap, which ended the kernel.',
    explanation: 'A thread executed __trap(), or one of its assertions failed. On a GPU the launch fails.',
    example: 'assert(i < n);',
    remedy: 'Look at the thread and the line in the message; --trace prints the instructions that led there.',
  },
  'run/unsupported': {
    severity: 'error',
    title: 'The run reached an instruction that the interpreter cannot execute.',
    explanation:
      'Selvage does not know what the instruction does, so it stopped the run. Do not rely on what this run shows. The exit code is 3.',
    example: 'asm("setmaxnreg.inc.sync.aligned.u32 64;");',
    remedy: 'Run a kernel without this instruction, or report it to the authors of Selvage.',
  },
  'run/budget': {
    severity: 'error',
    title: 'The run executed more instructions than --steps allows.',
    explanation:
      '--steps limits the instructions of a run, summed over all threads. The message locates one thread: often in a loop that never ends. The exit code is 3.',
    example: 'while (flag[0] == 0) { }   // no thread sets the flag',
    remedy: 'Correct the loop, make the launch smaller, or allow more instructions with --steps.',
  },
  'run/race-limit': {
    severity: 'notice',
    title: 'The run stopped because it had found enough races.',
    explanation: 'A run reports each pair of racing instructions once. It stops after a thousand pairs.',
    example: 'selvage run all-wrong.cu --kernel everything --block 32 --grid 1',
    remedy: 'Fix some of the races, or look for races on some arrays only with --track.',
  },
  'run/assumption': {
    severity: 'warning',
    title: 'The arguments of the run break an assumption of the code.',
    explanation:
      'The condition of a SELVAGE_ASSUME was false. The code states that this never happens, so the run shows nothing about the kernel.',
    example: 'SELVAGE_ASSUME(n % 32 == 0);   // --arg n=100',
    remedy: 'Give other arguments, or correct the assumption.',
  },
  'run/unknown-value': {
    severity: 'notice',
    title: 'The run used a value that the interpreter cannot compute.',
    explanation:
      'The interpreter has no textures and no clock, and it does not model some special registers. It uses 0 for their values. Results that depend on them may differ on a GPU.',
    example: 'float v = tex2D<float>(image, x, y);',
    remedy: 'Do not rely on outputs and findings that depend on these values.',
  },
  'ptx/syntax': {
    severity: 'error',
    title: 'A statement of the PTX file is not valid.',
    explanation:
      'The text is not PTX at this place: for example a semicolon is missing or a brace has no partner. Selvage reads the statements before and after it, but never proves a kernel that contains it.',
    example: 'add.s32 %r1, %r2 %r3;   // a comma is missing',
    remedy: 'Correct the statement, or generate the file again with nvcc -ptx.',
  },
  'ptx/literal': {
    severity: 'error',
    title: 'A literal of the PTX file is malformed or does not fit in 64 bits.',
    explanation:
      'An integer is decimal, hexadecimal (0x), binary (0b) or octal (leading 0), with an optional U. 0f is followed by exactly 8 hexadecimal digits, 0d by exactly 16.',
    example: 'mov.f32 %f1, 0f3F8;   // 0f3F800000',
    remedy: 'Correct the literal.',
  },
  'ptx/header': {
    severity: 'error',
    title: 'The PTX file does not start with .version and .target.',
    explanation: 'A module starts with both directives, in this order; .address_size is optional.',
    example: '.target sm_80   // .version is missing',
    remedy: 'Generate the file again with nvcc -ptx, or add the directives.',
  },
  'ptx/truncated': {
    severity: 'error',
    title: 'The PTX file ends in the middle of a function, statement or comment.',
    explanation: 'Selvage reads everything before that place, but never proves the function that is incomplete.',
    example: '.entry k() { ret;   // end of the file',
    remedy: 'Generate the whole file again with nvcc -ptx.',
  },
  'ptx/marker': {
    severity: 'error',
    title: 'A selvage comment in the PTX file has no operand or a malformed one.',
    explanation: 'The comments `selvage.assume`, `selvage.unknown` and `SELVAGE_CANDIDATE` take one register or one literal.',
    example: '// selvage.assume %r1, %r2;',
    remedy: 'Give one register or literal, as in `// selvage.assume %r1;`.',
  },
  'ptx/limit': {
    severity: 'error',
    title: 'The PTX file exceeds a limit of the parser.',
    explanation: 'The parser limits how deep scopes, vectors and expressions nest, and how many errors of one file it lists.',
    example: '{ { { … } } }   // hundreds of scopes',
    remedy: 'Simplify the text, or fix the errors that are listed.',
  },
  'ptx/undeclared': {
    severity: 'error',
    title: 'The PTX file uses a register or symbol that it does not declare.',
    explanation: 'A register or variable must be declared before its first use, in the same scope or an enclosing one.',
    example: 'mov.u32 %r5, 0;   // with .reg .b32 %r<5>, which declares %r0 to %r4',
    remedy: 'Declare it before this line.',
  },
  'ptx/duplicate': {
    severity: 'error',
    title: 'The PTX file declares a name twice.',
    explanation: 'A scope declares each register, variable and label once. A function has one body.',
    example: '.reg .b32 a;\n.reg .b64 a;',
    remedy: 'Rename or remove one of the two.',
  },
  'ptx/undefined-label': {
    severity: 'error',
    title: 'The PTX file branches to a label that does not exist.',
    explanation: 'The label must be in the same function, in the scope of the branch or an enclosing one.',
    example: 'bra $L__BB0_9;   // no $L__BB0_9: in this function',
    remedy: 'Add the label to the function, or correct the branch.',
  },
  'ptx/no-body': {
    severity: 'error',
    title: 'The PTX file declares a kernel that has no body.',
    explanation: 'Without a body there is nothing to analyse.',
    example: '.visible .entry k(.param .u64 p);',
    remedy: 'Give the kernel a body, or remove the declaration.',
  },
  'ptx/unknown-instruction': {
    severity: 'warning',
    title: 'Selvage does not know this PTX instruction.',
    explanation:
      'The effect of the instruction is unknown, so a kernel that can execute it is never proved. Races that Selvage finds elsewhere in the kernel still count.',
    example: 'frobnicate.sync.b32 %r1, %r2;',
    remedy: 'Report the instruction to the authors of Selvage, or keep it out of the kernels that you want proved.',
  },
  'ptx/undefined-function': {
    severity: 'notice',
    title: 'The PTX file calls a function that has no body in it.',
    explanation:
      'The function is part of another translation unit (relocatable device code) or of the device runtime. Selvage does not know what it does. A kernel that passes it an address, or stores one in memory, is never proved. Other kernels are proved under the listed assumption that the call has no effect on their memory.',
    example: 'call.uni (retval0), defined_elsewhere, (param0);',
    remedy: 'Define the function in the same unit, for example in a header.',
  },
  'input/unreadable': {
    severity: 'error',
    title: 'An input file cannot be read.',
    explanation:
      'The file existed when Selvage listed the inputs, but reading it failed: it was removed, or you have no permission to read it.',
    example: 'selvage check kernel.ptx   // with no permission to read it',
    remedy: 'Check the permissions and run Selvage again.',
  },
  'input/no-unit': {
    severity: 'error',
    title: 'No .cu file includes this header.',
    explanation:
      'Selvage compiles a header through the .cu files that include it. No .cu file of the repository includes this one, directly or through other headers, so there is nothing to compile.',
    example: 'selvage check include/reduce.cuh   // and no .cu file includes reduce.cuh',
    remedy: 'Name a .cu file that includes the header. Templates must be instantiated there.',
  },
  'input/foreign-kernels': {
    severity: 'notice',
    title: 'Kernels of a library were not checked.',
    explanation:
      'A unit contains kernels of headers outside the repository, such as those of CUB and Thrust. A change of the repository cannot fix them, so Selvage neither checks nor lists them.',
    example: 'thrust::sort(thrust::device, keys, keys + n);   // instantiates kernels of CUB',
    remedy: "Nothing is to be done. To have them checked, name them: --kernel 'cub::*'.",
  },
  ...launchCodes,
  ...orderingCodes,
  'idempotency/class-changed': {
    severity: 'notice',
    title: 'The change makes another set of launches safe to be stopped and run again.',
    explanation:
      'A launch is idempotent if it may be stopped anywhere and run again from the start, and memory is then as after one run. Systems that checkpoint, preempt or restart kernels depend on that. A kernel is idempotent, conditional (launches that satisfy a condition on their arguments are, such as that the result does not overlap the input), or non-idempotent: Selvage ran a launch of it again, and memory differed. A class that Selvage cannot decide is never reported as a change. `checks.idempotency` in .selvage.yml sets the severity.',
    example: 'x[i] = 2 * x[i];   // was y[i] = 2 * x[i]: run again, it doubles twice',
    remedy:
      'Write the result to another array than the one that is read, or split the kernel at the barrier between reading and writing. If the kernel is never restarted, nothing has to be done.',
  },
  'assumption/syntax': {
    severity: 'error',
    title: 'The text is not in the language of assumptions.',
    explanation:
      'An assumption is a comparison, or several joined with && || !. Its operators are + - * / % << & |. Its operands are integers, parameters, fields of parameters, blockDim, gridDim and warpSize. The other forms are distinct(A), A[*] in lo..hi (hi included), apart(A, B) and extent(A) >= n. The message names the column of the first error.',
    example: '// selvage: assume(n & 31 == 0)   // C reads n & (31 == 0)',
    remedy: 'Rewrite it, for example as assume((n & 31) == 0), or remove it.',
  },
  'assumption/contradictory': {
    severity: 'error',
    title: 'No launch can satisfy these assumptions.',
    explanation:
      'The assumptions of the kernel contradict each other, or contradict the launch. Under contradictory assumptions a proof would mean nothing, so Selvage proves nothing. Selvage uses the assumptions from the options, .selvage.yml and the comment above the kernel together.',
    example: '// selvage: block=128 assume(blockDim.x == 256)',
    remedy: 'Correct or remove one of the assumptions, or the launch.',
  },
  'assumption/unreachable': {
    severity: 'notice',
    title: 'An assumption switches off a part of the kernel.',
    explanation:
      'No launch that satisfies the assumptions executes these lines. The verdicts hold for such launches, and do not cover the lines.',
    example: '// selvage: assume(pad == 0)\nif (pad > 0) b[t] = pad;',
    remedy: 'Remove the assumption if launches with other values exist.',
  },
  'annotation/out-of-range': {
    severity: 'error',
    title: 'No device allows the launch in this `// selvage:` comment.',
    explanation:
      'The dimensions or the shared memory in the comment exceed the limits of every device, so such a launch always fails. Selvage ignores these values and uses the rest of the comment.',
    example: '// selvage: block=64,64   // 4096 threads',
    remedy: 'Stay within the limits: 1024 threads per block, blockDim.z at most 64, and 232448 bytes of dynamic shared memory.',
  },
  'annotation/syntax': {
    severity: 'error',
    title: 'Selvage cannot read a part of this `// selvage:` comment.',
    explanation:
      'The comment above a kernel takes block=X,Y,Z grid=X,Y,Z cluster=X,Y,Z shared=BYTES cooperative assume(…) arg(name=value). Selvage ignores what it cannot read and uses the rest.',
    example: '// selvage: blok=256',
    remedy: 'Correct the word or value in the message.',
  },
  'annotation/stray': {
    severity: 'warning',
    title: 'This `// selvage:` comment is not above a kernel.',
    explanation:
      'An annotation applies to the kernel definition directly below it. No definition is below this comment, so Selvage ignores it.',
    example: '// selvage: block=256\nint unrelated;',
    remedy: 'Move the comment to the line above the kernel, or remove it.',
  },
  'suppression/malformed': {
    severity: 'error',
    title: 'A suppression needs a known code and a reason.',
    explanation: 'A suppression states which finding it hides and why, so that a reviewer can judge it.',
    example: '// selvage-ignore race/shared',
    remedy: 'Write // selvage-ignore CODE: reason.',
  },
  'config/yaml': {
    severity: 'error',
    title: 'The configuration file is not valid YAML.',
    explanation: 'Selvage cannot parse .selvage.yml, so it uses nothing of the file and runs no analysis.',
    example: 'kernels: [ { match: "reduce*" }',
    remedy: 'Correct the YAML at the line and column in the message.',
  },
  'config/unknown-key': {
    severity: 'error',
    title: 'The configuration has a key that Selvage does not know.',
    explanation: 'Selvage rejects unknown keys, because a misspelt key would otherwise have no effect without any notice.',
    example: 'kernel:\n  - match: "*"   # the key is called kernels',
    remedy: 'Use the key that the message proposes, or remove it.',
  },
  'config/wrong-type': {
    severity: 'error',
    title: 'The configuration gives a key a value that the key does not accept.',
    explanation: 'The value has the wrong type, or it is outside the range of the key.',
    example: 'arch: sm_80   # a list: [sm_80]',
    remedy: 'Give a value of the kind in the message.',
  },
  'config/missing-key': {
    severity: 'error',
    title: 'The configuration lacks a required key.',
    explanation: 'Some keys are required: the version of the file, the kernels that an entry applies to, the reason of a suppression.',
    example: 'suppress: [{ code: race/global }]   # no reason',
    remedy: 'Add the key.',
  },
  'config/version': {
    severity: 'error',
    title: 'The configuration has a version that this Selvage does not know.',
    explanation: 'The key `version` specifies how to read the file. This version of Selvage reads version 1.',
    example: 'version: 2',
    remedy: 'Write version: 1, or use a newer Selvage.',
  },
  ...metricCodes,
  'limit/exceeded': {
    severity: 'error',
    title: 'The kernel exceeds a limit that you configured.',
    explanation:
      'An entry of `kernels` can limit the resources of the optimised build, the occupancy of a launch, and the cost of one warp. Selvage compares cost limits as expressions. If the expressions do not decide, Selvage compares their values at the reference arguments.',
    example: 'limits: { sectors: "<= 8*ceil(n/32)" }',
    remedy: 'Change the kernel at the line in the message, or change the limit.',
  },
  'limit/not-compared': {
    severity: 'notice',
    title: 'Selvage could not compare a limit with the cost of the kernel.',
    explanation:
      'Selvage found no bound, ptxas reported no resource usage, the block size is unknown, or the comparison depends on arguments without reference values.',
    example: 'limits: { sectors: "<= 4*m" }   # the kernel reads n elements',
    remedy: 'Give reference values with `args`, give a block size, or write the limit in the names that the bound uses.',
  },
  'limit/launch-bounds': {
    severity: 'warning',
    title: 'Fewer blocks fit on a multiprocessor than __launch_bounds__ asks for.',
    explanation:
      'The second number of __launch_bounds__ is the number of blocks that should fit on a multiprocessor. The compiler limits the registers accordingly, but shared memory or the block size can still prevent it.',
    example: '__global__ void __launch_bounds__(256, 4) k() { __shared__ float s[12288]; }   // 48 KB: on sm_80, 3 blocks fit',
    remedy: 'Use less shared memory, or ask for fewer blocks.',
  },
  'config/threshold': {
    severity: 'error',
    title: 'A threshold in the configuration is not valid.',
    explanation:
      'A threshold specifies how much worse a value may get: more of a cost (+5%, +4), or less occupancy (-10 points, -20%). `warn` must not be looser than `fail`.',
    example: 'cost: { sectors: { warn: "+50%", fail: "+25%" } }   # never warns',
    remedy: 'Write an increase, or for occupancy a decrease, and put the smaller change under `warn`.',
  },
  'config/limit': {
    severity: 'error',
    title: 'Selvage cannot read a limit in the configuration.',
    explanation:
      'A limit is a number, a lowest occupancy (>= 50%), or an upper bound. An upper bound may use the names of parameters and dimensions with + - * / floor ceil min max log2.',
    example: 'limits: { sectors: "<= 8*n/32)" }',
    remedy: 'Correct the limit at the line and column in the message.',
  },
  'assumption/unknown-name': {
    severity: 'warning',
    title: 'An assumption names a parameter that the kernel does not have.',
    explanation:
      'No kernel that this assumption applies to has a parameter of that name, so Selvage ignores the assumption. In PTX files without source the parameters are called param0, param1, ….',
    example: '// selvage: assume(size % 32 == 0)   // the parameter is called n',
    remedy: "Use the parameter's name from the kernel declaration, or param0, param1, ….",
  },
  'config/organisation': {
    severity: 'warning',
    title: 'The configuration of the organisation is not used.',
    explanation:
      'An organisation can keep defaults for all its repositories in the .selvage.yml of its repository .github. Selvage could not read that file, or it is wrong. An error there does not stop the reviews of all repositories: each goes on with its own configuration.',
    example: 'octo/.github/.selvage.yml:3:1: "kernel" is not a key of the configuration; did you mean "kernels"?',
    remedy: 'Correct the file, or let the token or the App read the repository .github.',
  },
  'suppression/unused': {
    severity: 'notice',
    title: 'This suppression does not suppress anything.',
    explanation: 'The finding is gone, or it is now at another line. A suppression that remains would hide the next bug at that place.',
    example: '// selvage-ignore race/shared: fixed long ago',
    remedy: 'Remove the suppression, or move it to the line of the finding or the line above it.',
  },
  'suppression/baseline-fixed': {
    severity: 'notice',
    title: 'Findings of the baseline are gone.',
    explanation:
      'The file .selvage-baseline.json lists findings that the repository had when it was written. Some of them are fixed. Their entries would hide the same bugs if they came back.',
    example: '{"fingerprint":"60ef2b0e8f72d20b","code":"race/shared","kernel":"shift(int*)","file":"src/shift.cu"}',
    remedy: 'Run `selvage baseline`, which drops the entries, and commit the file.',
  },
  'suppression/expired': {
    severity: 'warning',
    title: 'The suppression has expired.',
    explanation: 'A suppression in .selvage.yml can have an `until` date. After that day the finding counts again.',
    example: '{ code: race/global, reason: "rewrite planned", until: 2025-01-31 }',
    remedy: 'Fix the finding, or set a later date.',
  },
  'review/configuration-ignored': {
    severity: 'notice',
    title: 'Selvage ignores the configuration that this pull request brings.',
    explanation:
      'A pull request from a fork is checked with the configuration of the base commit, so that a stranger cannot switch checks off.',
    example: '.selvage.yml differs from the one of the base commit',
    remedy: 'Merge the configuration on its own first, or run `selvage review` with it on your own machine.',
  },
  'review/base-not-compared': {
    severity: 'notice',
    title: 'Selvage could not analyse the base commit, so all findings count as new.',
    explanation:
      'A file of the base commit does not compile here, for example because a submodule is not checked out or the toolkit is too new. Selvage cannot determine which findings the change introduced.',
    example: 'error: base revision: kernel.cu does not compile',
    remedy: 'Make the base commit compile with the same toolkit, or keep in mind that some findings may be old.',
  },
  'review/shard-missing': {
    severity: 'error',
    title: 'Selvage has no results of a shard, so that files of the change were not analysed.',
    explanation:
      'A review can be shared between several jobs, each of which analyses some of the files. One of them failed or left no results. What the others found is reported; nothing counts as fixed.',
    example: 'error: shard 2 of 4 left no results: reduce.cu was not analysed',
    remedy: 'Run the failed job again, and then the job that merges the shards.',
  },
  'internal/defect': {
    severity: 'error',
    title: 'Selvage failed with an internal error.',
    explanation:
      'The analysis of this kernel failed because of an internal error, so the kernel has no verdict. Other kernels are not affected. The message on standard error names the folder with the saved input.',
    example: 'selvage: internal error in kernel reduce: …',
    remedy: 'Report the bug and attach the saved input.',
  },
  'compile/no-compiler': {
    severity: 'error',
    title: 'Selvage found no nvcc, and a CUDA file needs one.',
    explanation:
      'Selvage compiles CUDA files to PTX first. It looks for nvcc in --nvcc, on PATH, in CUDA_HOME and CUDA_PATH, and in the usual folders such as /usr/local/cuda.',
    example: 'selvage check reduce.cu   # on a machine without the CUDA toolkit',
    remedy:
      'In a workflow, add a step such as Jimver/cuda-toolkit. On your own machine, install the package cuda-nvcc (apt or conda), or name a compiler with --nvcc PATH or CUDA_HOME. PTX files need no compiler.',
  },
  'compile/failed': {
    severity: 'error',
    title: 'A CUDA file does not compile.',
    explanation:
      "nvcc reported an error, so Selvage does not know the kernels of this file and reports nothing about them. For a pull request, only the log of the run shows the compiler's output.",
    example: 'reduce.cu(12): error: identifier "blockdim" is undefined',
    remedy: 'Fix the error, or give the flags that your build uses (nvcc.args or nvcc.compile-commands in .selvage.yml).',
  },
  'compile/refused': {
    severity: 'error',
    title: 'ptxas rejects a file, so its kernels cannot run on this architecture.',
    explanation:
      'nvcc compiles the file to PTX, but ptxas cannot generate machine code from it. One reason is a kernel with more static shared memory than a block may have. Selvage still checks races and divergence; it does not know registers and occupancy.',
    example: '__shared__ float s[16384];   // 64 KB: a block may have 48 KB of static shared memory',
    remedy: 'Fix what the message names, or choose another architecture.',
  },
  'assembly/missing': {
    severity: 'error',
    title:
      'A barrier, a fence, an atomic, a store, an asynchronous copy or a wait for copies of the PTX is missing in the code that ptxas made.',
    explanation:
      'Selvage proves kernels on PTX, and ptxas translates that to machine code (SASS). The generated code has the accesses around this instruction, but not the instruction itself. The proof does not hold for the code that runs. It is a notice if the code computes a value that nothing uses, or if some path of the code leaves an effect out: ptxas has never been observed to generate such code for a correct kernel, but this is not guaranteed.',
    example: '__syncthreads();   // in the PTX, but no BAR in the code',
    remedy: 'Try another version of ptxas, or a lower level of optimisation (-Xptxas -O1), and report the kernel to NVIDIA.',
  },
  'assembly/order': {
    severity: 'error',
    title: 'The code that ptxas made does not keep the order that barriers or fences give accesses in the PTX.',
    explanation:
      'Selvage proves kernels on PTX, and ptxas translates that to machine code (SASS). In the PTX every path from the first access to the second one passes a barrier or a fence. In the code some path passes none, or another access is where the PTX has this one: an access, or the barrier, was moved. The proof does not hold for the code that runs. It is a notice if an access only has an address or data that Selvage does not find in the PTX.',
    example: 's[t] = x;\n__syncthreads();\ny = s[t ^ 1];   // in the code this load comes before the BAR',
    remedy: 'Try another version of ptxas, or a lower level of optimisation (-Xptxas -O1), and report the kernel to NVIDIA.',
  },
  'compile/removed-api': {
    severity: 'notice',
    title: 'The file uses an API that this CUDA toolkit no longer has.',
    explanation:
      'CUDA removed texture references, cudaThreadSynchronize, __shfl without a mask and others, so the file compiles only with an older toolkit.',
    example: 'cudaThreadSynchronize();   // removed in CUDA 13',
    remedy: 'Use the replacement in the message, or an older toolkit.',
  },
  'compile/limit': {
    severity: 'error',
    title: 'Selvage stopped a compilation.',
    explanation: 'nvcc ran for too long or printed too much, or another process ended it.',
    example: 'template <int N> struct F { using T = typename F<N + 1>::T; };',
    remedy: 'Make the file smaller, or compile it with nvcc to see which part takes so long: the limit is 10 minutes.',
  },
  'compile/flag-refused': {
    severity: 'error',
    title: 'A pull request must not set this compiler flag.',
    explanation:
      'Flags such as -ccbin, -Xcompiler -fplugin and --options-file run programs or read files, and Selvage does not trust the flags of a pull request. It allows include paths, macros, the language standard and flags that affect device code.',
    example: 'nvcc: { args: ["-ccbin=./evil.sh"] }',
    remedy: 'Remove the flag, or set it in the workflow, where only the owner of the repository can.',
  },
  'compile/flag-dropped': {
    severity: 'notice',
    title: 'Flags were left out.',
    explanation:
      'Some flags concern only host code, such as -Xcompiler -fPIC and warnings, or phases after the generation of PTX, such as -Xlinker. Selvage compiles without them; kernels are the same. In a pull request Selvage also leaves out flags that a pull request may not set, if they are in a compilation database that the configuration does not name.',
    example: 'nvcc: { args: ["-Xcompiler=-fPIC,-Wall"] }',
    remedy: 'Nothing is to be done. Remove the flags to be rid of the note.',
  },
  'compile/architecture': {
    severity: 'notice',
    title: 'The flags name another architecture.',
    explanation:
      'The file does not compile for the architecture that Selvage was asked for, which is sm_80 unless stated. Its flags name other architectures, whose features it may need.',
    example: 'nvcc -gencode arch=compute_90,code=sm_90 …   // and selvage check without --arch',
    remedy: 'Give --arch sm_90, or set arch: [sm_90] in .selvage.yml.',
  },
  'compile/include-outside': {
    severity: 'error',
    title: 'A CUDA file includes a file from outside the repository and the toolkit.',
    explanation:
      'The content of an included file can appear in messages and PTX. In a pull request, Selvage therefore accepts included files only from the repository (except .git), the toolkit and the folders of the host compiler. It follows links before it checks.',
    example: '#include "/home/runner/.netrc"',
    remedy: 'Add the header to the repository, or install it where the host compiler looks.',
  },
  'compile/embedding': {
    severity: 'error',
    title: 'A CUDA file embeds the bytes of another file.',
    explanation: '#embed and the directive .incbin can read any file, so Selvage rejects them in a pull request.',
    example: 'asm(".incbin \\"secret.bin\\"");',
    remedy: 'Put the data into an array in a source file.',
  },
  'compile/unsafe-name': {
    severity: 'error',
    title: 'nvcc would pass this path to a shell.',
    explanation:
      'nvcc runs its phases through a shell, which expands $(…) and backquotes in file names. Selvage does not compile files whose path contains such characters.',
    example: 'kernels/$(id).cu',
    remedy: 'Rename the file or folder.',
  },
  'compile/unoptimised': {
    severity: 'notice',
    title: 'The verification build of a file is not optimised at all.',
    explanation:
      'Selvage decides races on a build that keeps every access and barrier of the source: -Ofc max, which optimises a little. That takes very long for functions of tens of thousands of instructions, such as unrolled hashes. Those are built with -Xcicc -O0, which keeps all of them too. The number of instructions determines the build, not the speed of the computer. Only if -Ofc max still does not end in time, the build depends on timing; the verdicts are then marked as not deterministic.',
    example: 'A hash whose 18 rounds are unrolled: 61,000 instructions in one kernel.',
    remedy: 'Nothing has to be done. A smaller function (a loop that is not unrolled by hand) is built as usual.',
  },
  'compile/stubbed-headers': {
    severity: 'notice',
    title: 'A file is compiled with stubs for headers that are missing.',
    explanation:
      'With `nvcc.stub-missing-headers: true` Selvage declares what host code takes from a header that is not found: opaque types, and functions and constants without a definition. Device code may use none of these names, nor anything of the repository that depends on them; otherwise no stub is made. Values that host code takes from a stub are unknown: a grid that is computed from one is any grid. A kernel that only a type or macro of the header instantiates is not checked. Of the macros AT_DISPATCH_… of PyTorch, the instances for float and double (or int and long) are checked, which each of them makes. Selvage assumes that the header redefines no name of the repository, and declares no overload that device code calls.',
    example: '#include <cublas_v2.h>   // cuBLAS is not installed on the runner',
    remedy:
      'Nothing has to be done. To have launches and all instances checked, install the library, and state its folder with -I in nvcc.args.',
  },
  'compile/not-stubbed': {
    severity: 'notice',
    title: 'A header is missing, and Selvage does not make a stub for it.',
    explanation:
      'A stub replaces a header of which only host code uses the names. No stub is made if device code uses one of them, directly or through a type, alias or constant of the repository; if a condition such as `#if TORCH_VERSION_MAJOR >= 2` on a macro that nothing defines may decide device code; if a kernel is instantiated with a type of the header; if the repository itself has a header of this name; or if host code uses the names so that Selvage finds no declaration for them.',
    example: '#include <curand_kernel.h>\n__global__ void k(curandState* s) { … }',
    remedy:
      'Install the library and state its folder with -I in nvcc.args. If the reason is a condition on a macro that your builds do not define, state it with -U in nvcc.args.',
  },
  'compile/selvage-macro': {
    severity: 'warning',
    title: 'A source file tests whether Selvage is checking it.',
    explanation:
      'The verification build defines __SELVAGE__ for selvage.h. Code that tests this macro elsewhere can make Selvage check code that differs from the code that runs.',
    example: '#ifndef __SELVAGE__\n  s[t] = s[t + 1];\n#endif',
    remedy: 'Use SELVAGE_ASSUME and SELVAGE_HAVOC of selvage.h instead; the report lists them.',
  },
  'compile/commands': {
    severity: 'error',
    title: 'The compilation database has no usable command for a file.',
    explanation:
      'compile_commands.json is a list. Each entry has a file, a directory, and either a command or its arguments. Selvage reads the one that nvcc.compile-commands of .selvage.yml names; without that, the one at the root of the repository, in a folder build*/ or cmake-build*/, or in out/.',
    example: '[{ "file": "reduce.cu" }]   // no command',
    remedy: 'Generate the file again, for example with CMAKE_EXPORT_COMPILE_COMMANDS.',
  },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof codes;
