/** Functions that are passed to others that only call them: `timed(100, run, out, in, n)`. */
import { childIn, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { type Declarations, type FunctionDeclaration, sourceTextOf } from './declarations.ts';

/** Functions of one unit that take functions as arguments. */
export class EscapingFunctions {
  /** Names of parameters of the unit that are called as functions. */
  readonly calledParameters: ReadonlySet<string>;
  readonly #declarations: Declarations;
  readonly #takers = new Map<string, ReadonlySet<string> | null>();

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
    const named = new Set<string>();
    for (const { body, parameters } of [...declarations.functions.values()].flat()) {
      if (!body || parameters.length === 0) continue;
      const callees = new Set(nodesWhere(body, isCalled).map((node) => sourceTextOf(declarations.text, node)));
      for (const { name } of parameters) if (callees.has(name)) named.add(name);
    }
    this.calledParameters = named;
  }

  /**
   * The functions that receive an argument, directly or passed on by others, each of which only calls it or passes it
   * on.
   * @param at index among the items of the call
   * @returns null if it may be used otherwise
   */
  takersOf(call: SyntaxNode, items: readonly SyntaxNode[], at: number): ReadonlySet<string> | null {
    const callee = childIn(call, 'function');
    if (!callee || !/^(?:identifier|qualified_identifier|template_function)$/.test(callee.type)) return null;
    if (call.children.some(({ type }) => type === 'kernel_call_syntax')) return null;
    if (items.slice(0, at).some(({ type }) => type === 'parameter_pack_expansion')) return null;
    const written = sourceTextOf(this.#declarations.text, callee).replace(/<[^]*$/, '').replace(/^.*::/s, '').trim(); // oxfmt-ignore
    const [only, ...others] = this.#declarations.functions.get(written)?.filter(({ body }) => body) ?? [];
    if (!only || others.length > 0 || only.record !== undefined || only.isDevice || only.isKernel) return null;
    const parameter = only.parameters[at];
    return parameter && !parameter.isPack ? this.#takersIn(only, parameter.name) : null;
  }

  #takersIn(taker: FunctionDeclaration, parameter: string): ReadonlySet<string> | null {
    const key = `${taker.name} ${parameter}`;
    const known = this.#takers.get(key);
    if (known !== undefined) return known;
    // Recursion: a function that passes the parameter to itself is not followed.
    this.#takers.set(key, null);
    const takers = new Set([taker.name]);
    const isOnlyCalled = this.#onlyCalls(taker.body!, parameter, takers);
    const found = isOnlyCalled ? takers : null;
    this.#takers.set(key, found);
    return found;
  }

  /** Whether a part of a body uses a parameter only by calling it, or by passing it to functions that only call it. */
  #onlyCalls(node: SyntaxNode, parameter: string, takers: Set<string>): boolean {
    const { text } = this.#declarations;
    const isIt = (one: SyntaxNode): boolean => /^(?:type_)?identifier$/.test(one.type) && sourceTextOf(text, one) === parameter; // oxfmt-ignore
    if (isIt(node)) return false;
    if (node.type !== 'call_expression')
      return node.children.every((child) => this.#onlyCalls(child, parameter, takers));
    const list = childIn(node, 'arguments');
    const items = list ? listItems(list) : [];
    const others = node.children.filter((child) => child !== list && !(child.field === 'function' && isIt(child)));
    if (!others.every((child) => this.#onlyCalls(child, parameter, takers))) return false;
    return items.every((item, at) => {
      if (!isIt(forwarded(item, text))) return this.#onlyCalls(item, parameter, takers);
      const further = this.takersOf(node, items, at);
      for (const name of further ?? []) takers.add(name);
      return further !== null;
    });
  }
}

/** The argument that `std::forward<T>(it)` and `std::move(it)` forward. */
function forwarded(node: SyntaxNode, text: string): SyntaxNode {
  const callee = node.type === 'call_expression' ? childIn(node, 'function') : undefined;
  const list = callee && /^(?:std::)?(?:forward\s*<[^]*>|move)$/.test(sourceTextOf(text, callee)) ? childIn(node, 'arguments') : undefined; // oxfmt-ignore
  const [only, ...more] = list ? listItems(list) : [];
  return only && more.length === 0 ? only : node;
}

function isCalled({ type, field }: SyntaxNode): boolean {
  return type === 'identifier' && field === 'function';
}
