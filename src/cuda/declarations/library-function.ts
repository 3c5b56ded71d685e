/** Functions of CUDA, C and C++ whose effects are known. */

/** Functions with no other effects than those in `callKnown`. */
const harmless =
  /^(?:cuda\w*|cu[A-Z]\w*|nvrtc\w*|v?f?s?n?w?printf|puts|putchar|fflush|malloc|calloc|free|memset|memcpy|memcmp|min|max|ceil\w*|floor\w*|round\w*|sqrt\w*|log\w*|exp\w*|pow\w*|f?abs\w*|f?m(?:in|ax)f?|s?rand\w*|assert|__assert\w*|make_\w+|sizeof|strlen|str\w*cmp|ato[ilf]|strto\w+|sto[ild]\w*|getenv|time|clock\w*|sdk(?:Start|Stop|Reset|Delete|Get)\w*|to_string|move|forward|raw_pointer_cast|exit|abort|fopen|fclose|usleep|sleep|numeric_limits|accumulate|distance|addressof)$/;

/** Namespaces of the libraries. */
const ofLibraries = /^(?:::)?(?:(?:cuda::)?std::|thrust::|cub::)?[A-Za-z_]\w*$/;

/** Whether a name may be one of the libraries: unqualified, or in one of their namespaces. */
export function isOfLibrary(path: string): boolean {
  return ofLibraries.test(path);
}

/**
 * Whether a function changes no argument, except for the outputs that `callKnown` models.
 * @param path as the source names it: `std::max`
 */
export function isHarmless(path: string): boolean {
  return isOfLibrary(path) && harmless.test(path.replace(/^.*::/, ''));
}
