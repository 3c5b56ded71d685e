/**
 * Finds the launches of a source in one pass over its bytes. Nothing is parsed or preprocessed. Comments and strings
 * are read as code, so the result is an over-approximation.
 */

/** Scan of one file. */
export interface ScannedSource {
  /** Hashes of all identifiers, without duplicates ({@link hashOf}). */
  readonly words: Uint32Array;
  /** Names right before `<<<`, or before template arguments and `<<<`; without namespaces. */
  readonly launched: readonly string[];
  /** Functions and types of the runtime and driver API for launching kernels that occur in the file. */
  readonly calls: readonly string[];
  /**
   * Names of kernels that the file defines or declares: the last word before the parameters that follow `__global__`.
   */
  readonly kernels: readonly string[];
  /** Names of files that the file includes, as written. */
  readonly includes: readonly string[];
  /** Whether the file pastes names (`##`): it may launch kernels whose names it does not contain. */
  readonly pastes: boolean;
}

/** Functions that launch kernels without `<<<`. */
const launchingWords = [
  'cudaLaunchKernel',
  'cudaLaunchKernelEx',
  'cudaLaunchKernelExC',
  'cudaLaunchCooperativeKernel',
  'cudaLaunchCooperativeKernelMultiDevice',
  'cuLaunchKernel',
  'cuLaunchKernelEx',
  'cuLaunchCooperativeKernel',
  'cuLaunchCooperativeKernelMultiDevice',
  'cuModuleGetFunction',
  'cuLibraryGetKernel',
  'cudaGetFuncBySymbol',
  'cudaGraphAddKernelNode',
  'cudaGraphKernelNodeSetParams',
  'cudaGraphExecKernelNodeSetParams',
  'cudaGraphAddNode',
  'cudaGraphNodeSetParams',
  'cudaGraphExecNodeSetParams',
  'cudaKernelNodeParams',
  'cudaKernelNodeParamsV2',
  'cuGraphAddKernelNode',
  'cuGraphKernelNodeSetParams',
  'cuGraphExecKernelNodeSetParams',
  'CUDA_KERNEL_NODE_PARAMS',
  'hipLaunchKernelGGL',
];

const offset = 0x811c9dc5;
const prime = 0x01000193;

/**
 * The hash of an identifier, 32 bits and not 0 (FNV-1a over its bytes). Different identifiers may have the same hash.
 */
export function hashOf(word: string): number {
  let hash = offset;
  for (const byte of Buffer.from(word, 'utf8')) hash = Math.imul(hash ^ byte, prime);
  return hash >>> 0 || 1;
}

const launching = new Map(launchingWords.map((word) => [hashOf(word), word]));
const globalHash = hashOf('__global__');
const includeHash = hashOf('include');

/** Class of a byte: 1 for a letter, an underscore or a byte of a multi-byte character; 2 for a digit. */
const classes = new Uint8Array(256);
for (let code = 0; code < 256; code++) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_$]/.test(character) || code >= 128) classes[code] = 1;
  else if (/\d/.test(character)) classes[code] = 2;
}
const less = 0x3c;
const sharp = 0x23;

/** Slots of the hash table of identifiers, which grows; their number is a power of two. */
let table = new Uint32Array(4096);
/** The identifiers of the file that is being scanned. */
let words = new Uint32Array(2048);

/**
 * Scans a source.
 * @param bytes of the file; need not end with a zero byte
 */
export function scanSource(bytes: Uint8Array): ScannedSource {
  table.fill(0);
  let found = 0;
  const launched = new Set<string>();
  const calls = new Set<string>();
  const kernels = new Set<string>();
  const includes = new Set<string>();
  let pastes = false;
  const { length } = bytes;
  for (let at = 0; at < length;) {
    const byte = bytes[at]!;
    const kind = classes[byte]!;
    if (kind === 1) {
      const start = at;
      let hash = offset;
      do hash = Math.imul(hash ^ bytes[at]!, prime);
      while (++at < length && classes[bytes[at]!]! > 0);
      // Zero marks a free slot.
      hash = hash >>> 0 || 1;
      let slot = hash & (table.length - 1);
      while (table[slot] !== 0 && table[slot] !== hash) slot = (slot + 1) & (table.length - 1);
      if (table[slot] === hash && hash !== globalHash && hash !== includeHash) continue;
      if (table[slot] === 0) {
        table[slot] = hash;
        if (found === words.length) enlargeWords();
        words[found++] = hash;
        if (found * 2 > table.length) growTable(found);
        const call = launching.get(hash);
        if (call !== undefined) calls.add(call);
      }
      if (hash === globalHash) addIfNamed(kernels, kernelBehind(bytes, at));
      else if (hash === includeHash && isDirective(bytes, start)) addIfNamed(includes, includedBehind(bytes, at));
    } else if (kind === 2) {
      // The remaining characters of an integer with its suffix, or of an identifier.
      while (++at < length && classes[bytes[at]!]! > 0);
    } else if (byte === less && bytes[at + 1] === less && opensLaunch(bytes, at)) {
      addNamesBefore(bytes, at, launched);
      at += 3;
    } else {
      if (byte === sharp && bytes[at + 1] === sharp) pastes = true;
      at += 1;
    }
  }
  return {
    words: words.slice(0, found),
    launched: [...launched],
    calls: [...calls],
    kernels: [...kernels],
    includes: [...includes],
    pastes,
  };
}

function enlargeWords(): void {
  const larger = new Uint32Array(words.length * 2);
  larger.set(words);
  words = larger;
}

function growTable(found: number): void {
  table = new Uint32Array(table.length * 2);
  for (let index = 0; index < found; index++) {
    const hash = words[index]!;
    let slot = hash & (table.length - 1);
    while (table[slot] !== 0) slot = (slot + 1) & (table.length - 1);
    table[slot] = hash;
  }
}

function addIfNamed(names: Set<string>, name: string | undefined): void {
  if (name !== undefined && name !== '') names.add(name);
}

/** Maximum distance between a launch or a `__global__` and its name, in bytes. */
const reach = 2048;

function stringOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}

/** Whether `<<` at an offset begins `<<<`, which may contain blanks. */
function opensLaunch(bytes: Uint8Array, at: number): boolean {
  let end = at + 2;
  while (end < bytes.length && bytes[end]! <= 0x20) end += 1;
  return bytes[end] === less;
}

/** The kernel names before a `<<<`, or before template arguments that precede it. */
function addNamesBefore(bytes: Uint8Array, at: number, names: Set<string>): void {
  const end = behindBlanks(bytes, at);
  const name = wordBefore(bytes, end);
  if (name !== undefined) names.add(name);
  if (bytes[end - 1] !== 0x3e) return;
  // Template arguments may contain comparisons: every `<` that directly follows a name may be the opening one.
  let depth = 0;
  for (let index = end - 1; index >= Math.max(0, at - reach); index--) {
    const byte = bytes[index];
    if (byte === 0x3e && bytes[index - 1] !== 0x2d) depth += 1;
    else if (byte === 0x3b || byte === 0x7b || byte === 0x7d) break;
    else if (byte === less) {
      const before = wordBefore(bytes, behindBlanks(bytes, index));
      if (before !== undefined && depth <= 2) names.add(before);
      depth = Math.max(1, depth - 1);
    }
  }
}

/** End of the last non-blank byte before an offset. */
function behindBlanks(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end > 0 && bytes[end - 1]! <= 0x20) end -= 1;
  return end;
}

/** The identifier that ends at an offset. */
function wordBefore(bytes: Uint8Array, end: number): string | undefined {
  let start = end;
  while (start > 0 && classes[bytes[start - 1]!]! > 0) start -= 1;
  return start === end || classes[bytes[start]!] !== 1 ? undefined : utf8(stringOf(bytes, start, end));
}

/** The name of the kernel that `__global__` declares: the last word before parameters. */
function kernelBehind(bytes: Uint8Array, at: number): string | undefined {
  return (
    kernelIn(stringOf(bytes, at, Math.min(bytes.length, at + 160))) ?? kernelIn(stringOf(bytes, at, Math.min(bytes.length, at + reach)))
  );
}

function kernelIn(declaration: string): string | undefined {
  let text = declaration;
  // Attributes and launch bounds have separate argument lists.
  for (;;) {
    const list =
      /^[^;{}()]*\b(?:__launch_bounds__|__attribute__|__block_size__|__cluster_dims__|__maxnreg__|alignas|__align__|__declspec)\s*(?=\()/.exec(
        text,
      );
    if (!list) break;
    text = text.slice(endOfList(text, list[0].length));
  }
  const name = /^[^;{}()]*?([A-Za-z_$\x80-\xff][\w$\x80-\xff]*)\s*(?:<[^;{}()]*>\s*)?\(/.exec(text)?.[1];
  return name === undefined ? undefined : utf8(name);
}

/** Offset after the closing parenthesis of the one at an offset. */
function endOfList(text: string, open: number): number {
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    if (text[index] === '(') depth += 1;
    else if (text[index] === ')' && --depth === 0) return index + 1;
  }
  return text.length;
}

/** Whether a word directly follows a `#`. */
function isDirective(bytes: Uint8Array, start: number): boolean {
  let before = start - 1;
  while (before >= 0 && (bytes[before] === 0x20 || bytes[before] === 0x09)) before -= 1;
  return bytes[before] === sharp;
}

function includedBehind(bytes: Uint8Array, at: number): string | undefined {
  const text = stringOf(bytes, at, Math.min(bytes.length, at + 512));
  const path = /^[ \t]*["<]([^">\n]+)[">]/.exec(text)?.[1];
  return path === undefined ? undefined : utf8(path);
}

/** Decodes UTF-8 text whose bytes were read as one character each. */
function utf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  return Buffer.from(text, 'latin1').toString('utf8');
}
