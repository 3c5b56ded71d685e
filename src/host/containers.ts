/** Trees (`std::map`, `std::set`) and texts (`std::string`) of libstdc++, whose functions have no body in a unit. */
import { type HostTerm, integer, one, termConstant, zeroTerm } from '../assumptions/expression.ts';
import { arithmetic, compared } from '../assumptions/simplify.ts';
import { type HostValue, integerValue, nullPointer, pointerOfText, termOf, valueKey } from '../cuda/launches/value.ts';
import type { HostObject, HostPlace, Objects } from './objects.ts';
import { movedBy } from './gimple-operators.ts';
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
    if (left === undefined || node?.kind !== 'pointer' || parent?.kind !== 'pointer' || header?.kind !== 'pointer') return false;
    const [least, greatest] = [this.#link(header, tree.left, state), this.#link(header, tree.right, state)];
    const isRoot = isSamePointer(parent, header);
    if (!least || !greatest || [node, parent, header].some((one) => this.#objects.placeAt(one, '')?.object.kind === 'outer')) return false;
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

/** Bytes of an object, and offsets in it. Short contents are in the object itself, where others have their capacity. */
const text = { bytes: 32, data: 0, length: 8, local: 16, localBytes: 16, capacity: 16 } as const;

/** A member function of `std::__cxx11::basic_string<char>`. */
const member = /^_ZN(K?)St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE(\w+)$/;

/** Members that change the object and its characters, and nothing else. */
const changing =
  /^(?:C[12]E|aSE|pLE|6append|6assign|6insert|5erase|7replace|9push_back|8pop_back|6resize|7reserve|13shrink_to_fit|4swap|9_M_mutate|9_M_append|9_M_assign|10_M_replace|14_M_replace_aux|8_M_erase)/;

/** Longer texts are not searched for their end. */
const longestText = 4096;

/** The result of a member, if it has a known one. */
interface MemberResult {
  readonly value: HostValue | null;
  readonly mayThrow: boolean;
}

/** Whether two pointers into one object are known to be different. */
function areApart(a: HostValue & { kind: 'pointer' }, b: HostValue & { kind: 'pointer' }): boolean {
  const [x, y] = [a.offset && termConstant(a.offset), b.offset && termConstant(b.offset)];
  return x !== null && y !== null && x !== undefined && y !== undefined && x !== y;
}

export class Strings {
  readonly #objects: Objects;

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** The number of characters before the end of a text; null if it is not known. */
  lengthOf(text: HostValue, state: State): HostTerm | null {
    const start = pointerOfText(text);
    for (let length = 0; start.kind === 'pointer' && length < longestText; length++) {
      const character = this.#read(start, length, 1, state);
      const constant = character && termOf(character);
      const value = constant ? termConstant(constant) : undefined;
      if (value === undefined) return null;
      if (value === 0n) return integer(length);
    }
    return null;
  }

  /** What a member function does; null for other functions, and if its object is not known. */
  call(name: string, given: readonly (HostValue | undefined)[], state: State): MemberResult | null {
    const [, isConstant, own = ''] = member.exec(name) ?? [];
    const [object, first, second] = given;
    if (isConstant === undefined || !object) return null;
    const done = (value: HostValue | null = null, mayThrow = false): MemberResult => ({ value, mayThrow });
    if (/^13_S_copy_charsE/.test(own)) {
      this.#copyCharacters(object, first, second, state);
      return done();
    }
    if (object.kind !== 'pointer' || object.memory.id === 'null') return null;
    const number = first ? termOf(first) : null;
    const data = (): HostValue | null => this.#read(object, text.data, 8, state);
    switch (own) {
      case '13_M_local_dataEv':
      case '17_M_use_local_dataEv':
        return done(movedBy(object, integer(text.local)));
      case '7_M_dataEv':
      case '5c_strEv':
      case '4dataEv':
        return done(data());
      case '4sizeEv':
      case '6lengthEv':
        return done(this.#read(object, text.length, 8, state));
      case '5emptyEv': {
        const length = this.#length(object, state);
        return done(length && { kind: 'condition', fact: compared('==', length, zeroTerm) });
      }
      case 'ixEm':
      case '2atEm': {
        const start = data();
        return done(start && movedBy(start, number), own === '2atEm');
      }
      case '7_M_dataEPc':
      case '12_Alloc_hiderC1EPcRKS3_':
      case '12_Alloc_hiderC2EPcRKS3_':
      case '12_Alloc_hiderC1EPcOS3_':
      case '12_Alloc_hiderC2EPcOS3_':
        this.#write(object, text.data, first, state);
        return done();
      case '9_M_lengthEm':
        this.#write(object, text.length, first, state);
        return done();
      case '11_M_capacityEm':
        this.#write(object, text.capacity, first, state);
        return done();
      case '13_M_set_lengthEm': {
        this.#write(object, text.length, first, state);
        const start = data();
        const isKnown = number !== null && termConstant(number) !== undefined;
        const end = start && isKnown ? movedBy(start, number) : start;
        const terminate = (place: HostPlace): void => this.#objects.write(place, 1, integerValue(zeroTerm), state);
        if (end) this.#overwrite(end, isKnown ? 1 : text.localBytes, isKnown ? terminate : null, state);
        else this.#objects.writeAnywhere(state);
        return done();
      }
      case '9_M_createERmm': {
        // It allocates more than is asked for if the contents grow.
        const before = second && termOf(second);
        const asked = before && termConstant(before) === 0n && first ? this.#read(first, 0, 8, state) : null;
        const place = first && this.#objects.placeAt(first, 'a capacity');
        if (!asked && place) this.#objects.fill(place, 8, false, state);
        const capacity = asked && termOf(asked);
        const constant = capacity ? termConstant(capacity) : undefined;
        return done(this.#allocate(state), constant === undefined || constant < 0n || constant > 1n << 30n);
      }
      case 'C1Ev':
      case 'C2Ev':
      case '5clearEv':
        this.#become(object, integerValue(zeroTerm), own !== '5clearEv', state);
        return done();
      case 'D1Ev':
      case 'D2Ev':
      case '10_M_disposeEv':
      case '10_M_destroyEm':
        return done();
    }
    if (isConstant !== '' || !changing.test(own)) return null;
    const isMoved = /EOS4_|4swapERS4_/.test(own);
    if (isMoved && first?.kind !== 'pointer') return null;
    const isApart = first?.kind !== 'pointer' || first.memory.id !== object.memory.id || areApart(first, object);
    const length = isMoved && !isApart ? null : this.#lengthAfter(own, object, first, number, state);
    if (isMoved && first) this.#become(first, own.includes('swap') || !isApart ? null : integerValue(zeroTerm), false, state);
    this.#become(object, length, /^C[12]E/.test(own), state);
    return done(/^(?:aS|pL|6append|6assign)/.test(own) ? object : null, !/^(?:C[12]EOS4_|aSEOS4_|4swap)/.test(own));
  }

  /** The length after a member function; null if it is not known. */
  #lengthAfter(own: string, object: HostValue, first: HostValue | undefined, number: HostTerm | null, state: State): HostValue | null {
    const value = (term: HostTerm | null): HostValue | null => term && integerValue(term);
    const grown = (by: HostTerm | null): HostValue | null => {
      const before = this.#length(object, state);
      return value(before && by && arithmetic('+', before, by));
    };
    if (!first) return null;
    if (/^(?:C[12]|aS|6assign)E(?:RKS4_|OS4_)$/.test(own)) return this.#read(first, text.length, 8, state);
    if (/^(?:aS|6assign)EPKc$/.test(own)) return value(this.lengthOf(first, state));
    if (/^(?:pL|6append)EPKc$/.test(own)) return grown(this.lengthOf(first, state));
    if (/^(?:pL|6append)ERKS4_$/.test(own)) return grown(this.#length(first, state));
    if (/^(?:pLEc|9push_backEc)$/.test(own)) return grown(one);
    if (/^6resizeEmc?$/.test(own)) return value(number);
    return null;
  }

  /** Another text is in an object. @param isNew whether it had none */
  #become(object: HostValue, length: HostValue | null, isNew: boolean, state: State): void {
    const data = isNew ? null : this.#read(object, text.data, 8, state);
    if (data) this.#overwrite(data, text.localBytes, null, state);
    else if (!isNew) this.#objects.writeAnywhere(state);
    // The characters are in the object or in an allocation: where is not known, so that any pointer may lead to both.
    for (const one of [object, ...(data ? [data] : [])]) this.#objects.lose(one);
    this.#objects.settle(state);
    this.forget(object, state);
    if (length) this.#write(object, text.length, length, state);
  }

  /** Nothing is known of an object any more, as after an exception. */
  forget(object: HostValue | undefined, state: State): void {
    const place = object?.kind === 'pointer' ? this.#objects.placeAt(object, 'a text') : null;
    if (place) this.#objects.fill(place, text.bytes, false, state);
  }

  #copyCharacters(target: HostValue, from: HostValue | undefined, to: HostValue | undefined, state: State): void {
    const [start, end] = [from, to].map((one) => one && pointerOfText(one));
    const isOne = start?.kind === 'pointer' && end?.kind === 'pointer' && start.memory.id === end.memory.id;
    const count = isOne && start.offset && end.offset ? arithmetic('-', end.offset, start.offset) : null;
    const constant = count ? termConstant(count) : undefined;
    const bytes = constant === undefined || constant < 0n || constant > longestText ? null : Number(constant);
    const source = start && bytes !== null ? this.#objects.placeAt(start, 'a text') : null;
    const copy = bytes === null ? null : (place: HostPlace): void => this.#objects.copy(place, source, bytes, state);
    this.#overwrite(target, bytes ?? text.localBytes, copy, state);
  }

  /**
   * Writes characters. A text is in its own object or in its own allocation, nowhere else.
   * @param bytes at most, if they are in the object
   * @param write writes them where they are; null if it is unknown what, or where
   */
  #overwrite(target: HostValue, bytes: number, write: ((place: HostPlace) => void) | null, state: State): void {
    const objects = this.#objects;
    if (target.kind === 'either') {
      for (const one of [target.then, target.otherwise]) this.#overwrite(one, bytes, null, state);
      return;
    }
    const place = target.kind === 'pointer' ? objects.placeAt(target, 'a text') : null;
    if (!place || place.object.kind === 'outer') objects.writeAnywhere(state);
    else if (place.object.kind === 'constant') return;
    else if (write && place.offset && termConstant(place.offset) !== undefined) write(place);
    else if (this.#allocations.has(place.object)) objects.forget(place.object, state);
    else objects.fill(place, bytes, false, state);
  }

  readonly #allocations = new WeakSet<HostObject>();

  #allocate(state: State): HostValue {
    const symbol = this.#objects.freshSymbol('a text');
    const pointer = this.#objects.allocate('variable', 'a text', null, { base: { kind: 'unknown', symbol }, cells: [] }, state);
    const place = this.#objects.placeAt(pointer, 'a text');
    if (place) this.#allocations.add(place.object);
    return pointer;
  }

  #length(object: HostValue, state: State): HostTerm | null {
    const value = this.#read(object, text.length, 8, state);
    return value && termOf(value);
  }

  /** A scalar at an offset from a pointer; null if it is not known as one. */
  #read(pointer: HostValue, offset: number, bytes: number, state: State): HostValue | null {
    const at = movedBy(pointer, integer(offset));
    const place = at && at.kind !== 'either' ? this.#objects.placeAt(at, 'a text') : null;
    if (!place) return null;
    const { value, exact } = this.#objects.read(place, bytes, state);
    if (value.kind === 'symbol' && offset === text.length)
      return { kind: 'symbol', symbol: { ...value.symbol, type: 'long unsigned int' } };
    return exact ? value : null;
  }

  #write(pointer: HostValue, offset: number, value: HostValue | undefined, state: State): void {
    const at = movedBy(pointer, integer(offset));
    const place = at && this.#objects.placeAt(at, 'a text');
    if (place && value) this.#objects.write(place, 8, value, state);
    else if (place) this.#objects.fill(place, 8, false, state);
  }
}
