/** CUDA functions as the names of instructions of a warp. */
import { code } from './code-text.ts';

/** CUDA functions by the opcode and the modes of their instruction. */
const functions: readonly (readonly [mnemonic: RegExp, name: string])[] = [
  [/^bar\.warp\.sync/, '__syncwarp()'],
  [/^shfl\.sync\.idx/, '__shfl_sync()'],
  [/^shfl\.sync\.bfly/, '__shfl_xor_sync()'],
  [/^shfl\.sync\.(up|down)/, '__shfl_$1_sync()'],
  [/^vote\.sync\.([a-z]+)/, '__$1_sync()'],
  [/^match\.([a-z]+)\.sync/, '__match_$1_sync()'],
  [/^redux\.sync\.(add|min|max|and|or|xor)/, '__reduce_$1_sync()'],
  [/^wmma\.mma/, 'wmma::mma_sync()'],
  [/^wmma\.(load|store)/, 'wmma::$1_matrix_sync()'],
  [/^(mma|ldmatrix|stmatrix|movmatrix|elect|wgmma)\b/, '$1.sync'],
];

/**
 * The CUDA function of an instruction, or its mnemonic.
 * @param ofGroup whether it is a member of a group of cooperative groups: `shfl_xor()`
 */
export function cudaFunction(mnemonic: string, ofGroup = false): string {
  if (ofGroup && /^bar/.test(mnemonic)) return code('sync()');
  for (const [pattern, name] of functions) {
    const match = pattern.exec(mnemonic);
    if (!match) continue;
    const called = name.replace('$1', match[1] ?? '');
    return code(ofGroup ? called.replace(/^__(.*)_sync\(/, '$1(') : called);
  }
  return code(mnemonic);
}
