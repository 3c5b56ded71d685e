/** What is reported of stubs, and whether a kernel depends on them. */
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { StubbedUnit, Unstubbed } from './stub-search.ts';

/** Which headers were stubbed, or why they were not. */
export function stubDiagnostic(found: StubbedUnit | Unstubbed, unit: string): Diagnostic {
  const location = { file: unit, line: 1 };
  const many = found.headers.length > 6 ? ` and ${found.headers.length - 6} more` : '';
  const list = `${found.headers.slice(0, 6).join(', ')}${many}`;
  if ('reason' in found) {
    const message = `Selvage made no stubs for the missing headers of this file (${list}): ${found.reason}.`;
    return { severity: 'notice', code: 'compile/not-stubbed', message, location };
  }
  const unread = found.unreadLaunches === null ? '' : ` Its launches are not read: ${found.unreadLaunches}.`;
  const message = `Selvage compiled this file with stubs for headers that are missing (${list}). Device code uses none of their names. What host code takes from them is unknown, and kernels that only their types or macros instantiate are not checked.${unread}`;
  return { severity: 'notice', code: 'compile/stubbed-headers', message, location };
}

/** A class of a stub, or one that depends on one, in the name of a kernel or function of the PTX. */
export function stubClassIn(ptx: string, { classes }: StubbedUnit): string | undefined {
  const named = new Map(classes.map((name) => [`${name.length}${name}`, name]));
  for (const [symbol] of ptx.matchAll(/\b_Z\w+/g)) {
    for (const [part, name] of named) if (symbol.includes(part)) return name;
  }
  return undefined;
}
