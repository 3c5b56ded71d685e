/** Functions of the CUDA runtime, of C and of C++ whose bodies are not in the unit. The list is closed: any other call is unknown code. */
import { appliedSymbol } from '../assumptions/applied-symbol.ts';
import { type Fact, type HostTerm, integer, one, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { isSame } from '../assumptions/parts.ts';
import { arithmetic, choice, compared } from '../assumptions/simplify.ts';
import { type HostValue, type MemoryContents, functionsOf, integerValue, nullPointer, termOf, valueKey } from '../cuda/launches/value.ts';
import type { HostUnit } from './host-unit.ts';
import { type CallRequest, type Outcome, type Passed, handleLabel } from './activation.ts';
import type { Interpreter } from './interpreter.ts';
import { constantBytes, zeroObject } from './object-contents.ts';
import { type HostPlace, labelOf } from './objects.ts';
import { afterWrite, copyOf } from './operations/copies.ts';
import { hostMayWait, hostWaitsFor } from './operations/order.ts';
import { movedBy, roundedValue } from './gimple-operators.ts';
import type { State } from './state.ts';
import { Strings, Trees } from './containers.ts';

/** An upper limit, far above any GPU: a bound is needed to prove that index arithmetic does not wrap around. */
const maxMultiprocessors = 65_535;
/** Maximum number of blocks that a multiprocessor can execute at once (CUDA programming guide: 32), with a margin. */
const maxBlocks = 64;
/** Maxima of fields of `cudaDeviceProp`; the minimum of each is 1. */
const devicePropertyLimits: readonly (readonly [string, number])[] = [
  ['multiProcessorCount', maxMultiprocessors],
  ['maxThreadsPerBlock', 1024],
  ['maxThreadsPerMultiProcessor', 4096],
];
const deviceProperties = 'cudaGetDeviceProperties';
/** `cudaDevAttrMultiProcessorCount` and `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`. */
const multiprocessorCount = 16n;

/** Functions that change no memory that the program reads, and throw nothing. */
const harmless =
  /^(?:v?f?s?n?w?printf|__(?:v?f?printf|printf)_chk|puts|putchar|fputs|fputc|fflush|fclose|fopen|free|mem(?:cmp|chr)|str(?:len|n?cmp|n?casecmp|r?chr|str|dup)|ato[ilf]|atoll|getenv|time|clock|clock_gettime|gettimeofday|s?rand(?:om)?|usleep|sleep|exit|_Exit|abort|__assert_fail|__builtin_(?:object_size|huge_valf?|inff?|nanf?|isnan|isinf|signbit|printf|puts|putchar|strlen|strcmp|memcmp|is_constant_evaluated)|__cxa_(?:end_catch|free_exception|get_exception_ptr|guard_release|guard_abort|atexit)|_ZdlPv\w*|_ZdaPv\w*|_Unwind_Resume|__cudaRegister\w*|__cudaUnregister\w*|__cudaInitModule|_ZNSt8ios_base4InitC1Ev|_ZNSt9exceptionD[0-2]Ev|_ZNSt13runtime_errorD[0-2]Ev|_ZSt\d+_Hash_bytes\w*|_ZNSaI[cw]E[CD][0-2]\w*|_ZNSt15__new_allocatorI[cw]E[CD][0-2]\w*|_ZNSt6chrono3_V212(?:system|steady)_clock3nowEv)$/;

/** Those of {@link harmless} whose results depend on numbers that they are given, and on nothing else. */
const mathematical =
  /^(?:sqrtf?|pow[fl]?|exp2?f?|log(?:2|10|1p)?f?|sinf?|cosf?|tanf?|f?abs[fl]?|fmodf?|l?roundf?|ll?rintf?|nearbyintf?|hypotf?|cbrtf?|ceilf?|floorf?|truncf?|f(?:min|max)f?|c[lt]zl?l?|popcountl?l?)$/;

/** Members of streams and operators of output: they change only the stream, and return it. */
const output = /^(?:_ZNSo(?:ls|3put|5write|5flush)|_ZStlsI|_ZSt4endlI|_ZSt5flushI|_ZSt16__ostream_insertI|_ZNSolsEPFRSoS_E)/;

/** Functions of C++ that read what they are given. */
const readers = /^_ZNK(?:St7__cxx1112basic_string|Ss|St9exception|St13runtime_error|St9type_info|St6locale|St12__basic_fileI)/;

/** Those of {@link readers} that throw nothing. */
const harmlessReaders =
  /^_ZNK\w*?(?:4size|6length|5empty|8capacity|8max_size|5c_str|4data|(?:E|Ss)ix|5begin|3end|4find|5rfind|1[1-7]find_\w+|7compareE(?:RKS4_|PKc)$|4what|4name|7is_open)/;

/** Functions of C++ that change the objects they are given, and call no function of the program. */
const writers =
  /^_ZZ?(?:NSt7__cxx1112basic_string|NSs|NSt7__cxx11(?:18|19)basic_|NSi|NSt14basic_[io]?f?stream|NSt13basic_[io]?f?stream|NSt9basic_iosI|NSt6localeC|St4swapRNSt7__cxx1112basic|NSt8__detail15_List_node_base|NKSt8__detail20_Prime_rehash_policy|St\d+_Rb_tree_(?:insert_and_rebalance|rebalance_for_erase|increment|decrement))/;

/** Constructors of exceptions: they copy the text that they are given. */
const exceptions = /^_ZNSt(?:13runtime_error|11logic_error|16invalid_argument|12out_of_range)C/;

/** Size of the standard exceptions: the table of virtual functions, and a text. */
const exceptionBytes = 16;

/** Functions that make objects, or copy bytes. */
const allocating =
  /^(?:_Zn[wa]m(?:St11align_val_t|RKSt9nothrow_t)?|malloc|calloc|mem(?:cpy|move|set)|__cxa_(?:allocate_exception|begin_catch)|__builtin_(?:expect|unreachable|trap|eh_pointer)|_ZSt7launderIv\w*)$/;

const throwing = /^(?:_ZSt\d+__throw_\w+|__cxa_throw|__cxa_rethrow|__cxa_throw_bad_array_new_length|__cxa_bad_cast)$/;

/** Functions of the runtime that write no memory of the device. */
const keepsContents =
  /^(?:cuda(?:Malloc\w*|HostAlloc|Free\w*|HostRegister|HostUnregister|GetLastError|PeekAtLastError|GetErrorString|GetErrorName|(?:Device|Stream|Event)Synchronize|Event(?:Create\w*|Record\w*|Query|Destroy|ElapsedTime)|Stream(?:Create\w*|Query|WaitEvent|Destroy)|(?:Get|Set)Device\w*|Device(?:Get|Set)\w*|DriverGetVersion|RuntimeGetVersion|Occupancy\w*|Func(?:Set|Get)\w*|MemGetInfo|PointerGetAttributes|Profiler\w*))$/;

/** `cudaMemcpyKind` */
const copyKinds = { hostToHost: 0n, hostToDevice: 1n, deviceToHost: 2n };

/** Offset in bytes of the memory in `cudaResourceDesc`, for any type (`driver_types.h`). */
const boundMemoryOffset = 8;

/** Larger tables are not recorded. */
const maxTableBytes = 32_768n;

export class Library {
  readonly #host: Interpreter;
  /** Allocations that host code writes too. */
  readonly #trees: Trees;
  readonly #strings: Strings;
  readonly #errno: HostValue;
  #hasCallbacks = false;

  constructor(host: Interpreter) {
    this.#host = host;
    this.#trees = new Trees(host.objects);
    this.#strings = new Strings(host.objects);
    const errno = host.objects.create('volatile', 'errno', 'errno', integer(4), null);
    this.#errno = host.objects.addressOf({ object: errno, offset: zeroTerm, label: 'errno' });
  }

  /** Whether a function changes only what its arguments lead to. */
  static isKnown(name: string): boolean {
    const plain = name.replace(/^__builtin_/, '');
    return [harmless, mathematical, output, readers, writers, exceptions, throwing, allocating, /^__errno_location$/].some(
      (one) => one.test(name) || one.test(plain),
    );
  }

  /** The outcome of a known function; null for any other one. */
  call(name: string, request: CallRequest, state: State): Outcome | null {
    const plain = name.replace(/^__builtin_(?!expect|eh_|unreachable|alloca|stack)/, '');
    const { given } = request;
    const result = (value: HostValue | null): Outcome => ({
      state,
      value: value && { kind: 'scalar', value, type: null },
      thrown: null,
    });
    if (throwing.test(name)) {
      for (const passed of given) this.#host.losePassed(passed);
      return { state: null, value: null, thrown: state };
    }
    const known =
      this.#memory(plain, request, state, result) ?? this.#numbers(plain, given, result) ?? this.#language(name, given, state, result);
    if (known) return known;
    if (harmless.test(name) || harmless.test(plain) || mathematical.test(plain)) {
      const mayPoint = pointsInto(request);
      for (const passed of given) if (mayPoint || (passed.kind === 'scalar' && functionsOf(passed.value))) this.#host.losePassed(passed);
      const type = request.resultType?.kind === 'integer' || request.resultType?.kind === 'float' ? request.resultType.name : undefined;
      const keys = given.flatMap((passed) => (passed.kind === 'scalar' ? [valueKey(passed.value)] : []));
      if (mathematical.test(plain)) return result({ kind: 'symbol', symbol: appliedSymbol(plain, keys, `${plain}()`, type) });
      return result(this.#host.objects.fresh(`${plain}()`, type, `the result of \`${plain}()\``));
    }
    if (output.test(name)) {
      // The address itself may be read back.
      if (name.endsWith('EPKv')) for (const passed of given) this.#host.losePassed(passed);
      return result(scalar(given[0]) ?? null);
    }
    const text = this.#strings.call(name, given.map(scalar), state);
    if (text) {
      const after = text.mayThrow && request.matters ? this.#host.mayThrow(state) : result(null);
      if (after.thrown) this.#strings.forget(scalar(given[0]), after.thrown);
      return { ...after, value: text.value && { kind: 'scalar', value: text.value, type: null } };
    }
    if (readers.test(name) && !name.endsWith('4copyEPcmm')) {
      if (pointsInto(request)) for (const passed of given) this.#host.losePassed(passed);
      this.#host.objects.settle(state);
      return request.matters && !harmlessReaders.test(name) ? this.#host.mayThrow(state) : result(null);
    }
    if (exceptions.test(name)) {
      const place = this.#host.placeOf(given[0]);
      if (place) this.#host.objects.fill(place, exceptionBytes, false, state);
      return request.matters ? this.#host.mayThrow(state) : result(null);
    }
    if (writers.test(name) || readers.test(name)) {
      this.#host.writeReachable(given, state);
      return request.matters ? this.#host.mayThrow(state) : result(null);
    }
    if (/^cu(?:da)?[A-Z]\w*$|^nvrtc\w*$/.test(name)) return this.#runtime(name, request, state, result);
    return null;
  }

  /** What is copied may be copied back to another place. */
  #loseSource(source: Passed | undefined, state: State): void {
    const place = this.#host.placeOf(source);
    if (place) this.#host.objects.loseContents(place.object, state);
    this.#host.objects.settle(state);
  }

  #write(passed: Passed | undefined, bytes: number, value: HostValue, state: State): void {
    const place = this.#host.placeOf(passed);
    if (place) this.#host.objects.write(place, bytes, value, state);
  }

  #allocate(kind: 'allocation' | 'device' | 'variable', label: string, bytes: HostTerm | null, state: State, isZero = false): HostValue {
    const { objects } = this.#host;
    const unknown = { kind: 'unknown', symbol: objects.freshSymbol(label) } as const;
    return objects.allocate(kind, label, bytes, isZero ? zeroObject : { base: unknown, cells: [] }, state);
  }

  #memory(name: string, request: CallRequest, state: State, result: (value: HostValue | null) => Outcome): Outcome | null {
    const { objects } = this.#host;
    const { given } = request;
    const size = (passed: Passed | undefined): number | null => {
      const term = passed && termOfPassed(passed);
      const constant = term ? termConstant(term) : undefined;
      return constant === undefined || constant > 1n << 30n ? null : Number(constant);
    };
    switch (name) {
      case 'memcpy':
      case 'memmove':
      case '__memcpy_chk':
      case '__memmove_chk': {
        const [target, source] = [this.#host.placeOf(given[0]), this.#host.placeOf(given[1])];
        this.#host.accessing = request;
        if (target) objects.copy(target, source, size(given[2]), state);
        this.#host.accessing = null;
        return result(scalar(given[0]) ?? null);
      }
      case 'memset':
      case '__memset_chk': {
        const target = this.#host.placeOf(given[0]);
        const value = given[1] && termOfPassed(given[1]);
        const constant = value ? termConstant(value) : undefined;
        this.#host.accessing = request;
        if (target) objects.fill(target, size(given[2]), constant === 0n, state);
        this.#host.accessing = null;
        return result(scalar(given[0]) ?? null);
      }
      case 'strcpy':
      case 'strncpy':
      case 'strcat':
      case 'strncat':
      case 'sprintf':
      case 'snprintf':
      case 'vsnprintf':
      case '__sprintf_chk':
      case '__snprintf_chk': {
        const target = this.#host.placeOf(given[0]);
        if (target) objects.forget(target.object, state);
        return result(scalar(given[0]) ?? null);
      }
      case 'strlen': {
        const [text] = given.map(scalar);
        const length = text ? this.#strings.lengthOf(text, state) : null;
        return length && result(integerValue(length));
      }
      case 'strtol':
      case 'strtoul':
      case 'strtoll':
      case 'strtoull':
      case 'strtod':
      case 'strtof': {
        const end = this.#host.placeOf(given[1]);
        if (end) objects.forget(end.object, state);
        // What it writes points into the text.
        if (end && given[0]) this.#host.losePassed(given[0]);
        return result(null);
      }
      case '_Znwm':
      case '_Znam':
      case '_ZnwmSt11align_val_t':
      case '_ZnamSt11align_val_t':
      case '_ZnwmRKSt9nothrow_t':
      case '_ZnamRKSt9nothrow_t':
        return result(this.#allocate('variable', 'memory', (given[0] && termOfPassed(given[0])) ?? null, state));
      case 'malloc':
        return result(this.#allocate('allocation', 'memory', (given[0] && termOfPassed(given[0])) ?? null, state));
      case 'calloc': {
        const [count, bytes] = given.map(termOfPassed);
        return result(this.#allocate('allocation', 'memory', (count && bytes && arithmetic('*', count, bytes)) ?? null, state, true));
      }
      case '__builtin_alloca':
      case '__builtin_alloca_with_align':
        return result(this.#allocate('variable', 'memory', (given[0] && termOfPassed(given[0])) ?? null, state));
      case '__builtin_stack_save':
      case '__builtin_stack_restore':
        return result(null);
      case '__cxa_allocate_exception':
        return result(this.#allocate('variable', 'an exception', null, state));
      default:
        return null;
    }
  }

  #numbers(name: string, given: readonly Passed[], result: (value: HostValue | null) => Outcome): Outcome | null {
    const [first, second] = given.map((passed) => scalar(passed));
    const roundedResult = (value: HostValue | null | undefined): Outcome | null => (value ? result(value) : null);
    switch (name) {
      case 'ceil':
      case 'ceilf':
      case 'floor':
      case 'floorf':
      case 'trunc':
      case 'truncf':
        return roundedResult(first && roundedValue(name, first));
      case 'fmin':
      case 'fmax':
      case 'fminf':
      case 'fmaxf': {
        if (first?.kind !== 'quotient' || second?.kind !== 'quotient') return null;
        const isWhole = [first, second].every(({ denominator }) => termConstant(denominator) === 1n);
        if (!isWhole) return null;
        const [a, b] = [first.numerator, second.numerator];
        const value = choice(compared('<', a, b), name.startsWith('fmin') ? a : b, name.startsWith('fmin') ? b : a);
        return roundedResult(value && { kind: 'quotient', numerator: value, denominator: one });
      }
      case '.ADD_OVERFLOW':
      case '.SUB_OVERFLOW':
      case '.MUL_OVERFLOW': {
        // The result, and whether it wrapped: that it does not is assumed.
        const operator = ({ A: '+', S: '-', M: '*' } as const)[name[1] as 'A' | 'S' | 'M'];
        const [a, b] = [first && termOf(first), second && termOf(second)];
        const value = a && b ? arithmetic(operator, a, b) : null;
        const fields = new Map([
          ['real', value && integerValue(value)],
          ['imaginary', integerValue(zeroTerm)],
        ] as const);
        if (!value) return result(null);
        return result({ kind: 'record', fields: fields as ReadonlyMap<string, HostValue>, rest: { id: 'complex', label: 'a number' } });
      }
      case 'abs':
      case 'labs':
      case 'llabs': {
        const a = first && termOf(first);
        const minus = a && arithmetic('-', zeroTerm, a);
        const value = a && minus && choice(compared('<', a, zeroTerm), minus, a);
        return result(value ? integerValue(value) : null);
      }
      default:
        return null;
    }
  }

  #language(name: string, given: readonly Passed[], state: State, result: (value: HostValue | null) => Outcome): Outcome | null {
    const [first] = given;
    // By an atomic operation on memory that a kernel accesses, too, the host may wait for it.
    if (/^__(?:atomic|sync)_/.test(name) && /^(?:device|outer)$/.test(this.#host.placeOf(first)?.object.kind ?? 'outer'))
      state.order = { ...hostMayWait(state.order), isExact: false };
    if (/^__atomic_load_\d$/.test(name)) {
      const place = this.#host.placeOf(first);
      // Other threads may write what they can reach; guards of static variables they set only once.
      const isGuard = place !== null && /^static (?:.*!)?_ZGV/.test(place.object.memory.id);
      // Another thread may have written more before.
      if (!isGuard && this.#host.program.hasThreads) this.#host.objects.disturb(state);
      if (!place || (this.#host.objects.isShared(place) && !isGuard)) return result(null);
      return result(this.#host.objects.read(place, Number(name.at(-1)), state).value);
    }
    if (/^__atomic_fetch_(?:add|sub)_\d$/.test(name)) {
      const [place, bytes] = [this.#host.placeOf(first), Number(name.at(-1))];
      if (!place) return null;
      const before = this.#host.objects.read(place, bytes, state).value;
      const [old, by] = [termOf(before), given[1] && termOfPassed(given[1])];
      const after = old && by ? arithmetic(name.includes('add') ? '+' : '-', old, by) : null;
      this.#host.objects.write(place, bytes, after ? integerValue(after) : this.#host.objects.fresh(place.label), state);
      return result(before);
    }
    switch (name) {
      case '__builtin_expect':
      case '__builtin_expect_with_probability':
      case '_ZSt7launderIvEPT_S1_':
        return result(scalar(first) ?? null);
      case '_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_':
        return this.#trees.insert(first && termOfPassed(first), given.slice(1).map(scalar), state) ? result(null) : null;
      case '_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base':
      case '_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base':
      case '_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base':
      case '_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base': {
        const node = scalar(first);
        const next = node ? this.#trees.next(node, name.includes('increment'), state) : null;
        return next && result(next);
      }
      case '__dynamic_cast': {
        const [pointer, , wanted] = given.map(scalar);
        const cast = pointer && wanted ? this.#castTo(pointer, wanted, state) : null;
        if (!cast && first) this.#host.losePassed(first);
        return result(cast);
      }
      case '__builtin_unreachable':
      case '__builtin_trap':
        return { state: null, value: null, thrown: null };
      case '__errno_location':
        return result(this.#errno);
      case '__cxa_guard_acquire': {
        const place = this.#host.placeOf(first);
        const guard = place && this.#host.objects.read(place, 1, state).value;
        const term = guard && termOf(guard);
        const isKnown = term && termConstant(term) === 0n;
        if (isKnown) this.#write(first, 1, integerValue(one), state);
        return result(isKnown ? integerValue(one) : null);
      }
      case '__cxa_begin_catch':
        this.#host.objects.settle(state);
        return result(null);
      case '__builtin_eh_pointer':
      case '__builtin_eh_filter':
      case '__builtin_eh_copy_values':
        return result(null);
      default:
        return null;
    }
  }

  /**
   * A pointer to the class of a `std::type_info`, as `dynamic_cast` finds it (Itanium C++ ABI, 2.9.5 and 2.5.2); null if
   * it is unknown.
   */
  #castTo(pointer: HostValue, wanted: HostValue, state: State): HostValue | null {
    if (pointer.kind === 'either') {
      const [then, otherwise] = [pointer.then, pointer.otherwise].map((one) => this.#castTo(one, wanted, state));
      return then && otherwise ? { ...pointer, then, otherwise } : null;
    }
    if (pointer.kind !== 'pointer' || wanted.kind !== 'pointer') return null;
    if (pointer.memory.id === 'null') return pointer;
    const { objects } = this.#host;
    const at = (from: HostValue, offset: number): HostValue | null => {
      const moved = movedBy(from, integer(offset));
      const place = moved && objects.placeAt(moved, 'a type');
      return place && objects.read(place, 8, state).value;
    };
    const table = at(pointer, 0);
    if (table?.kind !== 'pointer') return null;
    const [toTop, first] = [at(table, -16), at(table, -8)];
    let type: HostValue | null = first;
    while (type?.kind === 'pointer' && type.memory.id !== wanted.memory.id) {
      const form = at(type, 0);
      if (form?.kind !== 'function') return null;
      if (form.name === '_ZTVN10__cxxabiv117__class_type_infoE') return nullPointer;
      // Classes with several bases are not followed.
      type = form.name === '_ZTVN10__cxxabiv120__si_class_type_infoE' ? at(type, 16) : null;
    }
    const by = toTop && termOf(toTop);
    return type?.kind === 'pointer' && by ? movedBy(pointer, by) : null;
  }

  /** Functions of the runtime and the driver. They throw nothing; they write where their arguments point. */
  #runtime(name: string, request: CallRequest, state: State, result: (value: HostValue | null) => Outcome): Outcome {
    const { objects } = this.#host;
    const { given } = request;
    const [first, second, third, fourth] = given;
    const [, b, c, d] = [first, second, third, fourth].map((passed) => passed && termOfPassed(passed));
    const label = labelOf(scalar(first));
    const done = (): Outcome => result(null);
    const plain = name.replace(/_ptsz$|_ptds$|_v\d$/, '');
    this.#noteContents(plain, given, state);
    state.order = this.#host.streams.call(plain, given.map(scalar), state.order);
    this.#issue(plain, request, state);
    // Functions that the runtime calls may run until any of its functions returns.
    this.#hasCallbacks ||= /HostFunc$|AddCallback$|HostNode|UserObjectCreate$/.test(plain);
    if (this.#hasCallbacks) objects.disturb(state);
    switch (plain) {
      case 'cudaMalloc':
      case 'cudaMallocAsync':
      case 'cudaMallocFromPoolAsync':
      case 'cuMemAlloc':
        this.#write(first, 8, this.#allocate('device', label, b ?? null, state), state);
        return done();
      // Kernels write this memory too, at any time: nothing is known of its contents.
      case 'cudaMallocManaged':
      case 'cudaMallocHost':
      case 'cudaHostAlloc':
      case 'cuMemAllocManaged':
      case 'cuMemAllocHost':
      case 'cuMemHostAlloc': {
        const address = this.#allocate('device', label, b ?? null, state);
        if (address.kind === 'pointer') objects.shared.add(address.memory.id);
        this.#write(first, 8, address, state);
        return done();
      }
      // Memory of the program that the device accesses from here on.
      case 'cudaHostRegister': {
        const memory = this.#host.placeOf(first)?.object.memory.id;
        if (memory !== undefined) objects.shared.add(memory);
        return done();
      }
      case 'cudaHostGetDevicePointer':
        this.#write(first, 8, scalar(second) ?? objects.fresh(label), state);
        return done();
      case 'cudaStreamCreate':
      case 'cudaStreamCreateWithFlags':
      case 'cudaStreamCreateWithPriority':
      case 'cuStreamCreate':
      case 'cuStreamCreateWithPriority':
      case 'cudaEventCreate':
      case 'cudaEventCreateWithFlags':
      case 'cuEventCreate': {
        const handle = objects.fresh(handleLabel(scalar(first), request.activation));
        this.#host.streams.create(plain, handle, scalar(second));
        this.#write(first, 8, handle, state);
        return done();
      }
      case 'cudaMallocPitch': {
        const pitch = objects.fresh('pitch', 'size_t');
        const bytes = termOf(pitch);
        if (bytes && c) this.#host.know(compared('>=', bytes, c));
        this.#write(first, 8, this.#allocate('device', label, (bytes && d && arithmetic('*', bytes, d)) ?? null, state), state);
        this.#write(second, 8, pitch, state);
        return done();
      }
      case 'cudaMallocArray':
      case 'cudaMalloc3DArray':
      case 'cudaMallocMipmappedArray':
        this.#write(first, 8, this.#allocate('device', label, null, state), state);
        return done();
      case deviceProperties:
        this.#properties(first, request.activation.unit, state);
        return done();
      case 'cudaOccupancyMaxPotentialBlockSize':
      case 'cuOccupancyMaxPotentialBlockSize': {
        const [grid, block] = [objects.fresh(`${plain}()`, 'int'), objects.fresh(`${plain}()`, 'int')];
        this.#within(grid, 1, null);
        this.#within(block, 32, 1024);
        const threads = termOf(block);
        const rest = threads && arithmetic('%', threads, integer(32));
        if (rest) this.#host.know(compared('==', rest, zeroTerm));
        this.#write(first, 4, grid, state);
        this.#write(second, 4, block, state);
        return done();
      }
      case 'cudaOccupancyMaxActiveBlocksPerMultiprocessor':
      case 'cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags': {
        const blocks = objects.fresh(`${plain}()`, 'int');
        // If no block fits, nothing is launched.
        this.#within(blocks, 0, maxBlocks);
        this.#write(first, 4, blocks, state);
        return done();
      }
      case 'cudaDeviceGetAttribute':
      case 'cuDeviceGetAttribute': {
        const value = objects.fresh(`${plain}()`, 'int');
        const attribute = b ? termConstant(b) : undefined;
        if (attribute === multiprocessorCount) this.#within(value, 1, maxMultiprocessors);
        this.#write(first, 4, value, state);
        return done();
      }
      case 'cuModuleGetFunction':
      case 'cuLibraryGetKernel': {
        const text = scalar(third);
        if (text?.kind === 'text') this.#write(first, 8, { kind: 'function', name: text.text }, state);
        else this.#write(first, 8, objects.fresh(label), state);
        return done();
      }
      case 'cudaGetFuncBySymbol':
      case 'cuKernelGetFunction':
      case 'cudaGetKernel': {
        const kernel = scalar(second);
        this.#write(first, 8, kernel?.kind === 'function' ? kernel : objects.fresh(label), state);
        return done();
      }
      case 'cudaCreateTextureObject': {
        const resource = this.#host.placeOf(second);
        const at = resource?.offset && arithmetic('+', resource.offset, integer(boundMemoryOffset));
        const memory = resource && at ? objects.read({ ...resource, offset: at }, 8, state).value : null;
        const isBound = memory?.kind === 'pointer' && memory.memory.isAllocation === true;
        this.#write(first, 8, isBound ? { kind: 'texture', memory: memory.memory } : objects.fresh(label, 'cudaTextureObject_t'), state);
        return done();
      }
      case 'cudaGetSymbolAddress': {
        const symbol = scalar(second);
        this.#write(first, 8, { kind: 'symbol', symbol: { id: `symbol ${symbol ? valueKey(symbol) : ''}`, label } }, state);
        return done();
      }
      case 'cudaMemcpy':
      case 'cudaMemcpyAsync':
      case 'cudaMemcpyFromSymbol':
      case 'cudaMemcpyFromSymbolAsync': {
        this.#loseSource(second, state);
        const place = this.#host.placeOf(first);
        if (!place) return done();
        // A copy that is not over yet writes later than the call.
        if (plain.endsWith('Async')) this.#host.losePassed(first!);
        const bytes = termConstant(c ?? zeroTerm);
        objects.fill(place, c && bytes !== undefined && bytes < 1n << 30n ? Number(bytes) : null, false, state);
        return done();
      }
      case 'cudaMemcpyToSymbol':
      case 'cudaMemcpyToSymbolAsync':
        this.#loseSource(second, state);
        return done();
      case 'cudaMemset':
      case 'cudaMemsetAsync':
      case 'cudaFree':
      case 'cudaFreeAsync':
      case 'cudaFreeHost':
      case 'cudaFuncSetAttribute':
      case 'cudaFuncSetCacheConfig':
      case 'cudaSetDevice':
      case 'cudaGetErrorString':
      case 'cudaGetErrorName':
      case 'cudaPointerGetAttributes':
        if (plain === 'cudaPointerGetAttributes') this.#forget(first, state);
        return done();
      default:
        for (const passed of given) {
          this.#forget(passed, state, `${plain}()`);
          this.#host.losePassed(passed);
        }
        objects.settle(state);
        return done();
    }
  }

  /** Issues a copy or a fill to its stream. */
  #issue(name: string, request: CallRequest, state: State): void {
    const given = request.given.map(scalar);
    const made = copyOf(name, given, ({ id }) => this.#host.objects.shared.has(id));
    if (made === null) return;
    state.order = afterWrite(state.order, name, given);
    if (made === 'unknown') {
      state.order = { ...hostMayWait(state.order), isExact: false };
      return;
    }
    const stream = this.#host.streams.of(made.stream);
    this.#host.issue(request, made.operation, stream, state);
    // Whether the host waits for a copy from or to memory that is not pinned depends on its direction and size.
    if (!made.returnsEarly) state.order = { ...hostWaitsFor(state.order, stream), isExact: state.order.isExact && made.isSynchronous };
  }

  /** What a call writes to device memory. */
  #noteContents(name: string, given: readonly Passed[], state: State): void {
    if (keepsContents.test(name)) return;
    const [target, source, third, fourth, fifth] = given;
    const number = (passed: Passed | undefined): bigint | undefined => {
      const term = passed && termOfPassed(passed);
      return term ? termConstant(term) : undefined;
    };
    const to = this.#host.placeOf(target);
    const isStart = to?.offset ? termConstant(to.offset) === 0n : false;
    const all = to?.object.memory.bytes ? termConstant(to.object.memory.bytes) : undefined;
    const fill = (memory: string, contents: MemoryContents | null): void => {
      const next = new Map(state.contents);
      if (contents && !this.#host.objects.shared.has(memory)) next.set(memory, contents);
      else next.delete(memory);
      state.contents = next;
    };
    const table = (bytes: bigint | undefined): MemoryContents | null => {
      const from = this.#host.placeOf(source);
      const start = from?.offset ? termConstant(from.offset) : undefined;
      if (!from || start === undefined || bytes === undefined || bytes > maxTableBytes || from.object.kind === 'device') return null;
      const held = constantBytes(this.#host.objects.contents(from.object, state), Number(start), Number(bytes));
      return held && { kind: 'contents', element: 1, values: held.map(BigInt), fill: 0 };
    };
    const { bytes } = to?.object.memory ?? {};
    switch (name) {
      case 'cudaMemset': {
        if (to?.object.kind !== 'device') break;
        const [value, count] = [number(source), third && termOfPassed(third)];
        const isWhole = isStart && count && bytes && isSame(count, bytes);
        fill(
          to.object.memory.id,
          isWhole && value !== undefined ? { kind: 'contents', element: 1, fill: Number(BigInt.asUintN(8, value)) } : null,
        );
        return;
      }
      case 'cudaMemcpy': {
        const kind = number(fourth);
        // To the host: contents of host memory are followed otherwise.
        if (kind === copyKinds.hostToHost || kind === copyKinds.deviceToHost) return;
        if (to?.object.kind !== 'device') break;
        const count = number(third);
        fill(to.object.memory.id, isStart && kind === copyKinds.hostToDevice && count !== undefined && count === all ? table(count) : null);
        return;
      }
      case 'cudaMemcpyToSymbol': {
        if (!to || !/^(?:static|private|owned|constant)$/.test(to.object.kind)) break;
        const count = number(third);
        const isPlain = isStart && number(fourth) === 0n && number(fifth) === copyKinds.hostToDevice && count === all;
        fill(`symbol ${to.object.memory.label}`, isPlain ? table(count) : null);
        return;
      }
    }
    state.contents = new Map();
  }

  #forget(passed: Passed | undefined, state: State, label?: string): void {
    const place = this.#host.placeOf(passed);
    if (place && place.object.kind !== 'constant' && place.object.kind !== 'outer') this.#host.objects.forget(place.object, state, label);
  }

  #within(value: HostValue, least: number, most: number | null): void {
    const term = termOf(value);
    const facts: Fact[] = term
      ? [compared('>=', term, integer(least)), ...(most === null ? [] : [compared('<=', term, integer(most))])]
      : [];
    for (const fact of facts) this.#host.know(fact);
  }

  #properties(passed: Passed | undefined, unit: HostUnit, state: State): void {
    const { objects } = this.#host;
    const place = this.#host.placeOf(passed);
    const [type] = unit.types.recordsNamed('cudaDeviceProp');
    if (!place || !type) {
      if (place) objects.forget(place.object, state);
      return;
    }
    const named = (label: string): HostPlace => ({ ...place, label });
    objects.fill(named(`${deviceProperties}()`), type.bytes, false, state);
    const limits = new Map(devicePropertyLimits);
    for (const { name, offset } of type.members) {
      const most = limits.get(name);
      const at: HostPlace = {
        ...place,
        offset: place.offset && arithmetic('+', place.offset, integer(offset)),
        label: `${deviceProperties}().${name}`,
      };
      // The warp size is the same on every current GPU.
      if (name === 'warpSize') objects.write(at, 4, integerValue(integer(32)), state);
      if (most === undefined) continue;
      const value = objects.fresh(at.label, 'int');
      this.#within(value, 1, most);
      objects.write(at, 4, value, state);
    }
  }
}

/** Whether what a function returns may point into what it is given. */
function pointsInto({ resultType, target }: CallRequest): boolean {
  return target !== null && resultType?.kind !== 'integer' && resultType?.kind !== 'float';
}

function scalar(passed: Passed | undefined): HostValue | undefined {
  return passed?.kind === 'scalar' ? passed.value : undefined;
}

function termOfPassed(passed: Passed): HostTerm | null {
  return passed.kind === 'scalar' && passed.value.kind !== 'quotient' ? termOf(passed.value) : null;
}
