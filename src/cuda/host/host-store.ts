interface Layer<Value> {
  readonly cells: ReadonlyMap<number, Value>;
  readonly below: Layer<Value> | null;
  readonly depth: number;
}

/** Maximum number of layers of a copy; more are merged, since each costs a lookup when a cell is read. */
const maxLayers = 24;

/**
 * Values of the cells of a host program. Copies share the layers from before the copy: a copy costs nothing, and two
 * copies are compared by the writes after it.
 */
export class HostStore<Value> {
  private own = new Map<number, Value>();
  private below: Layer<Value> | null;

  private constructor(below: Layer<Value> | null) {
    this.below = below;
  }

  /** A store without cells. */
  static empty<Value>(): HostStore<Value> {
    return new HostStore<Value>(null);
  }

  /** The value of a cell; undefined: it was never written. */
  get(cell: number): Value | undefined {
    const value = this.own.get(cell);
    if (value !== undefined) return value;
    for (let layer = this.below; layer; layer = layer.below) {
      const found = layer.cells.get(cell);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Writes a cell. */
  set(cell: number, value: Value): void {
    this.own.set(cell, value);
  }

  /** The cells that were written. */
  cells(): ReadonlySet<number> {
    return this.cellsAbove(null);
  }

  /** An independent copy of the store. */
  copy(): HostStore<Value> {
    if (this.own.size > 0) {
      const depth = (this.below?.depth ?? 0) + 1;
      this.below = depth > maxLayers ? this.merged() : { cells: this.own, below: this.below, depth };
      this.own = new Map();
    }
    return new HostStore<Value>(this.below);
  }

  /** The cells that may differ in two stores: those that one of them wrote since they last shared all layers. */
  static writtenApart<Value>(a: HostStore<Value>, b: HostStore<Value>): ReadonlySet<number> {
    const layers = new Set<Layer<Value>>();
    for (let layer = a.below; layer; layer = layer.below) layers.add(layer);
    let common = b.below;
    while (common && !layers.has(common)) common = common.below;
    return new Set([...a.cellsAbove(common), ...b.cellsAbove(common)]);
  }

  private cellsAbove(end: Layer<Value> | null): ReadonlySet<number> {
    const layers: ReadonlyMap<number, Value>[] = [this.own];
    for (let layer = this.below; layer && layer !== end; layer = layer.below) layers.push(layer.cells);
    return new Set(layers.reverse().flatMap((cells) => [...cells.keys()]));
  }

  private merged(): Layer<Value> {
    const cells = new Map<number, Value>();
    for (const cell of this.cells()) cells.set(cell, this.get(cell)!);
    return { cells, below: null, depth: 1 };
  }
}
