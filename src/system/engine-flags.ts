/** Flags of the JavaScript engine that apply to all threads of the process. */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/** Modules of Node that each check uses. */
const used = ['child_process', 'crypto', 'fs/promises', 'os', 'stream', 'timers/promises', 'url', 'util', 'vm', 'zlib'];

/**
 * Loads the modules of Node that each check needs. To be called before flags are set: Node ships their compiled code
 * for the flags that it starts with, and V8 rejects it under others. Compiling them takes 20 ms.
 */
export function loadNodeModules(): void {
  const require = createRequire(import.meta.url);
  for (const name of used) require(`node:${name}`);
}

/**
 * Lets V8 optimise later than it would in a long-running program. Most checks end within seconds, and hardly benefit
 * from its optimising compilers, which run in separate threads: they take a fifth to a third of the CPU time of a check
 * of 1 to 10 s. A check of a minute is optimised all the same. To be called before most functions are first called.
 */
export function optimiseLate(): void {
  // Engines have counted calls since Node 24; before that they counted executed bytes.
  const engine = Number.parseInt(process.versions.v8, 10);
  if (engine >= 13) {
    setFlagsFromString('--invocation-count-for-turbofan=60000');
    setFlagsFromString('--invocation-count-for-maglev=1200');
  } else if (engine === 11) setFlagsFromString('--interrupt-budget=1000000');
}

/**
 * Lets V8 collect garbage without concurrent marking. Concurrent marking avoids pauses, which are irrelevant here, and
 * costs other threads, and the program itself while it lasts, a fifth to a third of the CPU time of a check: heaps of a
 * few MiB grow all the time, so that it hardly ever ends.
 */
export function collectAtOnce(): void {
  setFlagsFromString('--no-incremental-marking');
}

/**
 * Prevents V8, in threads that start from now on, from compiling wrappers of calls from WebAssembly to JavaScript after
 * a thousand calls: threads share that code, and when two of them replace it concurrently the process ends with `Check
 * failed: jit_page_->allocations_.erase(addr)` (nodejs/node#64500). WebAssembly code with many such calls takes half as
 * long again. To be called before a second thread starts.
 */
export function shareNoWrappers(): void {
  // Older engines have neither the bug nor the flag.
  if (Number.parseInt(process.versions.v8, 10) < 13) return;
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`);
}

/**
 * Runs work in which V8 compiles WebAssembly, without tier-up to optimised code. The optimising compiler takes 300 ms
 * of another thread only for the lexer of CUDA, one function of 34 KB; the files that a check parses take less. Engines
 * read the flags when a module is created (Node 20), or when a function of it is first called (Node 24): both are to be
 * done inside. Other modules are compiled as usual.
 * @param work loads the module or calls it; if it returns a promise the flags apply until that is settled
 */
export function withoutTierUp<Result>(work: () => Result): Result {
  const restore = (): void => {
    setFlagsFromString('--wasm-tier-up');
    setFlagsFromString('--wasm-dynamic-tiering');
  };
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
  let result: Result | undefined;
  try {
    result = work();
    return result;
  } finally {
    if (result instanceof Promise) result.then(restore, restore);
    else restore();
  }
}
