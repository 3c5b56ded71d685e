/** Repeated contents of an array that are not stored for each element. */
export class RepeatedElements implements ReadonlyMap<number, bigint> {
  readonly #first: ReadonlyMap<number, bigint>;
  readonly #fill: bigint;
  readonly size: number;

  /**
   * @param first elements from 0 on, which repeat
   * @param fill value of missing elements among them
   * @param size total number of elements
   */
  constructor(first: ReadonlyMap<number, bigint>, fill: bigint, size: number) {
    this.#first = first;
    this.#fill = fill;
    this.size = Math.max(size, first.size);
  }

  get(element: number): bigint | undefined {
    return this.has(element) ? (this.#first.get(element % this.#first.size) ?? this.#fill) : undefined;
  }

  has(element: number): boolean {
    return element >= 0 && element < this.size;
  }

  *entries(): MapIterator<[number, bigint]> {
    for (let element = 0; element < this.size; element++) yield [element, this.get(element)!];
  }

  *keys(): MapIterator<number> {
    for (const [element] of this.entries()) yield element;
  }

  *values(): MapIterator<bigint> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[number, bigint]> {
    return this.entries();
  }

  forEach(each: (value: bigint, element: number, map: ReadonlyMap<number, bigint>) => void): void {
    for (const [element, value] of this.entries()) each(value, element, this);
  }
}
