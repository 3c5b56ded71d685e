/** Flags of the JavaScript engine that hold for all threads of the process. */
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8, in threads that start from now on, from compiling after a thousand calls what WebAssembly calls JavaScript
 * through: threads share that code, and when two of them replace it at a time the process ends with
 * `Check failed: jit_page_->allocations_.erase(addr)` (nodejs/node#64500). Z3 calls out of WebAssembly for each exception
 * that it could throw, and takes half as long again. So it is for whoever starts a second thread.
 */
export function shareNoWrappers(): void {
  // Older engines have neither the fault nor the flag.
  if (Number.parseInt(process.versions.v8, 10) < 13) return;
  setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`);
}
