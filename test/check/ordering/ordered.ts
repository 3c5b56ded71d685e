/** Which accesses of a kernel synchronisation orders, without a check of the kernel. */
import { orderBetween } from '../../../src/check/ordering/order.ts';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { type CheckOptions, kernelOf, requestFor } from '../kernel-text.ts';

/**
 * The order of the first access of `a` and the last one, by threads of one block and of two: `block grid` if they are
 * always ordered, `block? grid?` if they are ordered for equal flags, empty if they are not ordered.
 */
export function ordered(body: string, options: CheckOptions = { grid: [4, 1, 1] }): string {
  const kernel = kernelOf(body, '.global .align 4 .b32 t[256];');
  const { accesses, synchronisation } = kernelContext(requestFor(kernel, options));
  const own = accesses.filter(({ targets }) => targets.some(({ base }) => base.key.startsWith('parameter0')));
  const scopes = (['block', 'grid'] as const).flatMap((scope) => {
    const order = orderBetween(synchronisation, scope, own[0]!, own.at(-1)!);
    return order ? [order.kind === 'always' ? scope : `${scope}?`] : [];
  });
  return scopes.join(' ');
}

/** A body, the order of its accesses of `a`, and options other than four blocks. */
export type OrderedCase = readonly [body: string, order: string, options?: CheckOptions];

/** The cases whose order is another one than stated, with that order. */
export function otherwiseOrdered(cases: Readonly<Record<string, OrderedCase>>): readonly string[] {
  return Object.entries(cases).flatMap(([name, [body, order, options]]) => {
    const found = ordered(body, options);
    return found === order ? [] : [`${name}: '${found}', not '${order}'`];
  });
}

/** Code that only thread 0 of the block executes. */
export function leader(body: string, label: string): string {
  return `setp.ne.s32 %p9, %r0, 0; @%p9 bra ${label}; ${body} ${label}:`;
}
