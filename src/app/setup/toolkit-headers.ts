/** Headers of the CUDA toolkit by package, and headers of the host compiler and of Linux. */

/** Packages of the toolkit as `Jimver/cuda-toolkit` names them. */
export interface ToolkitPackages {
  /** Packages with the prefix `cuda-`, such as `nvcc`. */
  readonly prefixed: readonly string[];
  /** The others, such as `libcublas-dev`. */
  readonly plain: readonly string[];
}

interface PackageRow {
  readonly headers: RegExp;
  readonly name: string;
  readonly isPlain?: boolean;
}

const packageRows: readonly PackageRow[] = [
  { headers: /^(?:cublas\w*|nvblas)\.h$/, name: 'libcublas-dev', isPlain: true },
  { headers: /^curand\w*\.h$/, name: 'libcurand-dev', isPlain: true },
  { headers: /^cufft\w*\.h$/, name: 'libcufft-dev', isPlain: true },
  { headers: /^cusparse\w*\.h$/, name: 'libcusparse-dev', isPlain: true },
  { headers: /^cusolver\w*\.h$/, name: 'libcusolver-dev', isPlain: true },
  { headers: /^nvjpeg\w*\.h$/, name: 'libnvjpeg-dev', isPlain: true },
  { headers: /^npp\w*\.h$/, name: 'libnpp-dev', isPlain: true },
  { headers: /^cufile\w*\.h$/, name: 'libcufile-dev', isPlain: true },
  { headers: /^nvJitLink\.h$/, name: 'libnvjitlink-dev', isPlain: true },
  { headers: /^nvFatbin\.h$/, name: 'libnvfatbin-dev', isPlain: true },
  { headers: /^nvml\.h$/, name: 'nvml-dev' },
  { headers: /^nvrtc\.h$/, name: 'nvrtc-dev' },
  { headers: /^(?:cuda_profiler_api|cudaProfiler)\.h$/, name: 'profiler-api' },
  { headers: /^(?:nvtx3\/.*|nvToolsExt\w*\.h)$/, name: 'nvtx' },
  { headers: /^(?:cupti\w*|generated_cuda\w*_meta|nvperf_\w+)\.h$/, name: 'cupti' },
  { headers: /^(?:thrust|cub|cuda\/std|cuda)\/.+$/, name: 'cccl' },
];

/** Headers that come with the compiler and the runtime. */
const coreHeader =
  /^(?:cuda(?:_\w+|GL|EGL|VDPAU)?(?:Typedefs)?\.h|cuda(?:EGL|GL|VDPAU)Typedefs\.h|cudart_platform\.h|cooperative_groups(?:\.h|\/.+)|crt\/.+|nv\/.+|device_\w+\.h(?:pp)?|vector_\w+\.h(?:pp)?|sm_\w+\.h(?:pp)?|math_(?:functions|constants)\.h|mma\.h|library_types\.h|driver_(?:types|functions)\.h|host_(?:config|defines)\.h|builtin_types\.h|channel_descriptor\.h|common_functions\.h|texture_\w+\.h|surface_\w+\.h|fatbinary(?:_section)?\.h|cudalibxt\.h|cudaraw\w*\.h|cuComplex\.h|nvfunctional|nvPTXCompiler\.h)$/;

/** The standard libraries of C and C++, and headers of Linux that come with the C library. */
const standardHeader = new RegExp(
  `^(?:${[
    'algorithm|any|array|atomic|barrier|bit|bitset|charconv|chrono|cmath|codecvt|compare|complex|concepts|condition_variable|coroutine|deque|exception|execution|expected|filesystem|format|forward_list|fstream|functional|future|generator|initializer_list|iomanip|ios|iosfwd|iostream|istream|iterator|latch|limits|list|locale|map|mdspan|memory|memory_resource|mutex|new|numbers|numeric|optional|ostream|print|queue|random|ranges|ratio|regex|scoped_allocator|semaphore|set|shared_mutex|source_location|span|sstream|stack|stacktrace|stdexcept|stdfloat|stop_token|streambuf|string|string_view|strstream|syncstream|system_error|thread|tuple|type_traits|typeindex|typeinfo|unordered_map|unordered_set|utility|valarray|variant|vector|version|cxxabi\\.h',
    'c(?:assert|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|tgmath|time|uchar|wchar|wctype|complex)',
    '(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|tgmath|threads|time|uchar|wchar|wctype|memory|values|malloc|alloca)\\.h',
    '(?:aio|cpio|dirent|dlfcn|fcntl|fmtmsg|fnmatch|ftw|getopt|glob|grp|iconv|langinfo|libgen|libintl|link|monetary|mqueue|ndbm|net|netdb|nl_types|poll|pthread|pwd|regex|resolv|sched|search|semaphore|spawn|strings|stropts|syslog|tar|termios|trace|ucontext|unistd|utime|utmpx|wordexp|execinfo|ifaddrs|byteswap|endian|features|err|error|elf|pty|mntent|omp|quadmath)\\.h',
    '(?:sys|linux|asm|asm-generic|arpa|netinet|net|bits|ext|experimental|parallel|tr1|gnu|rpc|scsi|x86_64-linux-gnu)/.+',
    '(?:\\w*mmintrin|immintrin|x86intrin|x86gprintrin|cpuid|avx\\w*|fmaintrin|bmi\\w*intrin|arm_neon|arm_acle|arm_sve|ia32intrin|nmmintrin)\\.h',
  ].join('|')})$`,
);

/** Whether a header belongs to the host compiler or to the C library. */
export function isStandardHeader(name: string): boolean {
  return standardHeader.test(name);
}

/** Whether the compiler or a package of the toolkit has a header. */
export function isToolkitHeader(name: string): boolean {
  return coreHeader.test(name) || packageOf(name) !== undefined;
}

/**
 * Whether a build of PyTorch for CPUs, which the workflow installs, has a header. It lacks those that only builds for
 * CUDA have.
 */
export function isTorchHeader(name: string): boolean {
  return /^(?:torch|ATen(?!\/cuda)|c10(?!\/cuda)|pybind11)\/|^Python\.h$/.test(name);
}

function packageOf(header: string): PackageRow | undefined {
  return packageRows.find(({ headers }) => headers.test(header));
}

/**
 * The package with a header; undefined if every installation has it, or the toolkit has not.
 * @param toolkit version, such as `13.2.0`
 */
export function toolkitPackage(header: string, toolkit: string): string | undefined {
  const name = packageOf(header)?.name;
  // Thrust and CUB were a separate package before 11.8.
  return name === 'cccl' && isBefore(toolkit, 11, 8) ? 'thrust' : name;
}

function isBefore(version: string, major: number, minor: number): boolean {
  const [own = 0, ownMinor = 0] = version.split('.').map(Number);
  return own < major || (own === major && ownMinor < minor);
}

/** Packages that the headers of sources need, with the compiler and the runtime. */
export function packagesFor(headers: Iterable<string>, toolkit: string): ToolkitPackages {
  const prefixed = new Set(['nvcc', 'cudart', 'cudart-dev']);
  const plain = new Set<string>();
  for (const header of headers) {
    const row = packageOf(header);
    if (row !== undefined) (row.isPlain === true ? plain : prefixed).add(toolkitPackage(header, toolkit)!);
  }
  // Headers of cuSOLVER include those of these libraries.
  if (plain.has('libcusolver-dev')) ['libcublas-dev', 'libcusparse-dev'].forEach((name) => plain.add(name));
  return { prefixed: [...prefixed], plain: [...plain].sort() };
}
