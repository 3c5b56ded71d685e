/** Findings of translation validation. */
import type { Kernel } from '../../../ir/form/kernel.ts';
import type { TranslationFault } from '../../../sass/translation/translation.ts';
import type { Diagnostic } from '../../../source/diagnostic.ts';
import { type Location, outsideToolkit } from '../../../source/location.ts';

/** Readable names of lost operations, for operations whose internal names are unclear. */
const namesOfLost: Readonly<Record<string, string>> = {
  mbarrier: 'operation on an mbarrier',
  copy: 'asynchronous copy',
  group: 'end of a group of asynchronous copies',
  wait: 'wait for asynchronous copies',
};

/** Subject of a translation finding: the name of the kernel, its file, and the architecture. */
interface Made {
  readonly kernel: string;
  readonly file: string;
  readonly arch: string;
}

/**
 * Finding about a translation error in the SASS of a kernel. A finding that depends on observed behaviour of ptxas, and
 * not on a proof, is a notice.
 * @param kernel of the PTX that was assembled
 */
export function translationFinding({ kernel: name, file, arch }: Made, kernel: Kernel, fault: TranslationFault): Diagnostic {
  const locationOf = (ptxLine: number): Location | undefined => {
    for (const { instructions } of kernel.blocks) {
      const found = instructions.find((one) => one.ptxLine === ptxLine);
      if (found) return outsideToolkit(found.location);
    }
    return undefined;
  };
  const at = (ptxLine: number): string => {
    const place = locationOf(ptxLine);
    return place ? `line ${place.line}` : `line ${ptxLine} of its PTX`;
  };
  const made = `code that ptxas generates for ${name} (${file}, ${arch})`;
  const faultFinding = (code: 'assembly/missing' | 'assembly/order', ptxLine: number, message: string, isCertain = true): Diagnostic => {
    const location = locationOf(ptxLine) ?? kernel.location;
    return { severity: isCertain ? 'error' : 'notice', code, message, ...(location && { location }) };
  };
  switch (fault.kind) {
    case 'missing':
      return faultFinding(
        'assembly/missing',
        fault.ptxLine,
        `The ${namesOfLost[fault.what] ?? fault.what} at ${at(fault.ptxLine)} is missing in the ${made}.`,
      );
    case 'unstored':
      return faultFinding(
        'assembly/missing',
        fault.ptxLine,
        `The ${made} loads a spilled register at ${at(fault.ptxLine)}, and the store of it is missing.`,
      );
    case 'skipped':
      return faultFinding(
        'assembly/missing',
        fault.ptxLine,
        `Some path through the ${made} leaves out the store, the atomic or the fence at ${at(fault.ptxLine)}; no path of its PTX does. Either the path is never taken, or an instruction is missing.`,
        false,
      );
    case 'unused':
      return faultFinding(
        'assembly/missing',
        fault.ptxLine,
        `The ${made} computes a value at ${at(fault.ptxLine)} that no instruction uses. The instruction of the PTX that uses it may be missing.`,
        false,
      );
    case 'stray': {
      const [is, wanted] = fault.what === 'access' ? ['an access of memory', 'a barrier'] : ['a barrier', 'an access of memory'];
      return faultFinding('assembly/order', fault.ptxLine, `In the ${made} ${is} is at ${at(fault.ptxLine)}, where its PTX has ${wanted}.`);
    }
    case 'foreign': {
      const what = { address: 'an address', data: 'data', guard: 'a condition' }[fault.what];
      return faultFinding(
        'assembly/order',
        fault.ptxLine,
        fault.isCertain
          ? `In the ${made} the access at ${at(fault.ptxLine)} uses ${what} that its PTX does not use. Another access has taken its place.`
          : `In the ${made} the access at ${at(fault.ptxLine)} uses ${what} that Selvage does not find in its PTX. Another access may have taken its place.`,
        fault.isCertain,
      );
    }
    case 'weaker':
      return faultFinding(
        'assembly/order',
        fault.ptxLine,
        `In the ${made} the access at ${at(fault.ptxLine)} is weaker than its PTX requires: other threads may not see it in the order that its PTX guarantees. Another access may have taken its place.`,
      );
    case 'reversed':
      return faultFinding(
        'assembly/order',
        fault.later,
        `In the ${made} the access at ${at(fault.later)} may come before the one at ${at(fault.earlier)}; its PTX has a ${fault.what} between them.`,
      );
    case 'unseparated':
      return faultFinding(
        'assembly/order',
        fault.later,
        `In the ${made} no ${fault.what === 'wait' ? namesOfLost.wait : fault.what} is between the access at ${at(fault.earlier)} and the one at ${at(fault.later)}; its PTX has one.`,
      );
  }
}
