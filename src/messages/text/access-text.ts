/** Accesses of threads, as texts of findings name them. */
import type { AccessDescription } from '../../verdict/finding.ts';
import { code, count } from './code-text.ts';

/** Actions of a thread in the third person. */
export const verbs = { read: 'reads', write: 'writes', atomic: 'atomically updates' } as const;

/** Whether the text of an access is a call, `atomicAdd(&s[0], 1)`. */
export function isCall({ operation, expression }: AccessDescription): boolean {
  return operation === 'atomic' && expression?.includes('(') === true;
}

/** Verb of an access: `writes`, `copies asynchronously into`; for a call `executes`. */
export function verbOf(access: AccessDescription): string {
  if (isCall(access)) return 'executes';
  if (!access.isCopy) return verbs[access.operation];
  if (access.operation === 'write') return 'copies asynchronously into';
  // Copies read global memory; asynchronous reads of shared memory are those of matrix products.
  return access.memory === 'shared' ? 'asynchronously reads' : 'copies asynchronously from';
}

/** The accessed object: the text of the access, otherwise the element, otherwise the number of bytes and the array. */
export function objectText(access: AccessDescription, all?: string, element?: string): string {
  const { expression, bytes, memory, array = all } = access;
  if (expression !== undefined) return code(expression);
  if (element !== undefined) return code(element);
  const size = bytes === undefined ? '' : `${count(bytes, 'byte')} of `;
  const space = memory === 'generic' ? 'memory' : `${memory} memory`;
  return `${size}${array === undefined ? space : code(array)}`;
}
