import { createHash } from 'node:crypto';
import type { HostSymbol } from './expression.ts';

/** Longer names of symbols are abbreviated: they have a digest instead of their operands. */
const longestId = 240;

/**
 * A symbol for a function of other values, of which only that it is one is known: equal operands have equal results.
 * @param operands keys of the operands
 */
export function appliedSymbol(name: string, operands: readonly string[], label: string, type?: string): HostSymbol {
  const whole = `${name}(${operands.join()})`;
  const typed = type === undefined ? {} : { type };
  if (whole.length <= longestId) return { id: whole, label, ...typed };
  // The symbols in the operands stay visible.
  const leaves = [...new Set([...whole.matchAll(/‹[^‹›]+›/g)].map(([leaf]) => leaf))].sort();
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 32);
  return { id: `${name} ${digest} of ${leaves.join()}`, label, ...typed };
}
