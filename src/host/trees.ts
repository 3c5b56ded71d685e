/** Trees of the C++ library (`std::map`, `std::set`), whose functions that link nodes have no body in a unit. */
import { type HostTerm, integer, one, termConstant, zeroTerm } from '../cuda/host/term.ts';
import { type HostValue, integerValue, nullPointer, termOf, valueKey } from '../cuda/host/value.ts';
import type { Objects } from './objects.ts';
import { movedBy } from './operators.ts';
import type { State } from './state.ts';

/** Offsets in `std::_Rb_tree_node_base`, and in the header of a tree: its root, its least and its greatest node. */
const tree = { color: 0, parent: 8, left: 16, right: 24 } as const;
/** Larger trees are not followed. */
const maxNodes = 256;

function isSamePointer(a: HostValue, b: HostValue): boolean {
  return a.kind === 'pointer' && b.kind === 'pointer' && valueKey(a) === valueKey(b);
}

export class Trees {
  readonly #objects: Objects;

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** A pointer in a node of a tree (`std::_Rb_tree_node_base`), or of its header; null if it is unknown. */
  #link(node: HostValue, offset: number, state: State): HostValue | null {
    const objects = this.#objects;
    const moved = node.kind === 'pointer' && node.memory.id !== 'null' ? movedBy(node, integer(offset)) : null;
    const place = moved && objects.placeAt(moved, 'a node');
    const value = place && place.object.kind !== 'outer' ? objects.read(place, 8, state).value : null;
    if (value?.kind === 'number') return termConstant(value.term) === 0n ? nullPointer : null;
    return value?.kind === 'pointer' ? value : null;
  }

  /**
   * Links a node into a tree, as `_Rb_tree_insert_and_rebalance` does. The tree is not balanced: only the order of the
   * nodes is visible.
   * @returns false, and changes nothing, if some pointer is unknown
   */
  insert(isLeft: HostTerm | null | undefined, pointers: readonly (HostValue | undefined)[], state: State): boolean {
    const left = isLeft ? termConstant(isLeft) : undefined;
    const [node, parent, header] = pointers;
    if (left === undefined || node?.kind !== 'pointer' || parent?.kind !== 'pointer' || header?.kind !== 'pointer') return false; // oxfmt-ignore
    const [least, greatest] = [this.#link(header, tree.left, state), this.#link(header, tree.right, state)];
    const isRoot = isSamePointer(parent, header);
    if (!least || !greatest || [node, parent, header].some((one) => this.#objects.placeAt(one, '')?.object.kind === 'outer')) return false; // oxfmt-ignore
    const write = (at: HostValue, offset: number, bytes: number, value: HostValue): void => {
      const place = this.#objects.placeAt(movedBy(at, integer(offset))!, 'a node');
      if (place) this.#objects.write(place, bytes, value, state);
    };
    write(node, tree.color, 4, integerValue(isRoot ? one : zeroTerm));
    write(node, tree.parent, 8, parent);
    write(node, tree.left, 8, nullPointer);
    write(node, tree.right, 8, nullPointer);
    write(parent, left === 0n ? tree.right : tree.left, 8, node);
    if (isRoot) for (const offset of [tree.parent, tree.left, tree.right]) write(header, offset, 8, node);
    else if (left !== 0n && isSamePointer(parent, least)) write(header, tree.left, 8, node);
    else if (left === 0n && isSamePointer(parent, greatest)) write(header, tree.right, 8, node);
    return true;
  }

  /** The node after another one, or before it; null if some pointer is unknown. */
  next(node: HostValue, isForward: boolean, state: State): HostValue | null {
    const [near, far] = isForward ? [tree.right, tree.left] : [tree.left, tree.right];
    const link = (from: HostValue, offset: number): HostValue | null => this.#link(from, offset, state);
    const parent = link(node, tree.parent);
    if (!isForward && parent) {
      // Before the header, which is red and its own grandparent, is the greatest node.
      const place = this.#objects.placeAt(node, 'a node');
      const color = place && termOf(this.#objects.read(place, 4, state).value);
      if (!color || termConstant(color) === undefined) return null;
      const above = parent.kind === 'pointer' && parent.memory.id !== 'null' ? link(parent, tree.parent) : nullPointer;
      if (!above) return null;
      if (termConstant(color) === 0n && isSamePointer(above, node)) return link(node, tree.right);
    }
    let at = link(node, near);
    if (!at) return null;
    if (!isSamePointer(at, nullPointer)) {
      for (let count = 0; count < maxNodes; count++) {
        const inner: HostValue | null = link(at, far);
        if (!inner) return null;
        if (isSamePointer(inner, nullPointer)) return at;
        at = inner;
      }
      return null;
    }
    let [from, above]: [HostValue, HostValue | null] = [node, parent];
    for (let count = 0; above && count < maxNodes; count++) {
      const child = link(above, near);
      if (!child) return null;
      if (!isSamePointer(child, from)) {
        const last = link(from, near);
        return last && (isForward && isSamePointer(last, above) ? from : above);
      }
      [from, above] = [above, link(above, tree.parent)];
    }
    return null;
  }
}
