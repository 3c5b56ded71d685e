/** Flags of the JavaScript engine that hold for all threads of the process. */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/** What each check uses of Node. */
const used = ['child_process', 'crypto', 'fs/promises', 'os', 'stream', 'timers/promises', 'url', 'util', 'vm', 'zlib'];

/**
 * Loads the modules of Node that each check needs. To be called before flags are set: Node brings their compiled code
 * for the flags that it starts with, and V8 refuses it under others. Compiling them takes 20 ms.
 */
export function loadNodeModules(): void {
  const require = createRequire(import.meta.url);
  for (const name of used) require(`node:${name}`);
}

/**
 * Lets V8 optimise later than it would in a program that runs for long. Most checks end within seconds, and hardly repay
 * its optimising compilers, which work in threads of their own: they take a fifth to a third of the CPU of a check of
 * 1 to 10 s. What runs for a minute is optimised all the same. To be called before most functions are first called.
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
 * Lets V8 collect garbage in one go. Marking beside the program keeps it from pausing, which nobody notices here, and costs
 * other threads, and the program itself while it lasts, a fifth to a third of the CPU of a check: heaps of a few MiB grow
 * all the time, so that it hardly ever ends.
 */
export function collectAtOnce(): void {
  setFlagsFromString('--no-incremental-marking');
}

/**
 * Keeps V8, in threads that start from now on, from compiling after a thousand calls what WebAssembly calls JavaScript
 * through: threads share that code, and when two of them replace it at a time the process ends with
 * `Check failed: jit_page_->allocations_.erase(addr)` (nodejs/node#64500). What calls out of WebAssembly a lot takes
 * half as long again. So it is for whoever starts a second thread.
 */
export function shareNoWrappers(): void {
  // Older engines have neither the fault nor the flag.
  if (Number.parseInt(process.versions.v8, 10) < 13) return;
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`);
}

/**
 * Does work in which V8 compiles WebAssembly, and leaves that code as it is compiled first. The optimising compiler takes
 * 300 ms of another thread for the lexer of CUDA alone, one function of 34 KB; the files that a check parses take less.
 * Engines read the flags when a module is made (Node 20), or when a function of it is first called (Node 24): both are to
 * be done so. Other modules are compiled as ever.
 * @param work loads the module or calls it; where it returns a promise the flags hold until that is settled
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
