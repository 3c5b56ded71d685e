interface Layer<Key, Value> {
  readonly entries: ReadonlyMap<Key, Value>;
  readonly below: Layer<Key, Value> | null;
  readonly depth: number;
}

/** Maximum number of layers of a copy; more are merged, since each costs a lookup. */
const maxLayers = 24;

/**
 * A map whose copies share the layers from before the copy: a copy costs nothing, and two copies are compared by the
 * entries written after it.
 */
export class LayeredMap<Key, Value> {
  private own = new Map<Key, Value>();
  private below: Layer<Key, Value> | null = null;

  get(key: Key): Value | undefined {
    const value = this.own.get(key);
    if (value !== undefined) return value;
    for (let layer = this.below; layer; layer = layer.below) {
      const found = layer.entries.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  set(key: Key, value: Value): void {
    this.own.set(key, value);
  }

  get isEmpty(): boolean {
    return this.own.size === 0 && this.below === null;
  }

  keys(): ReadonlySet<Key> {
    return this.keysAbove(null);
  }

  /** An independent copy of the map. */
  copy(): LayeredMap<Key, Value> {
    if (this.own.size > 0) {
      const depth = (this.below?.depth ?? 0) + 1;
      this.below = depth > maxLayers ? this.merged() : { entries: this.own, below: this.below, depth };
      this.own = new Map();
    }
    const copy = new LayeredMap<Key, Value>();
    copy.below = this.below;
    return copy;
  }

  /** The keys whose values may differ in two maps: those written in one of them since both last shared all layers. */
  static writtenApart<Key, Value>(a: LayeredMap<Key, Value>, b: LayeredMap<Key, Value>): ReadonlySet<Key> {
    const layers = new Set<Layer<Key, Value>>();
    for (let layer = a.below; layer; layer = layer.below) layers.add(layer);
    let common = b.below;
    while (common && !layers.has(common)) common = common.below;
    return new Set([...a.keysAbove(common), ...b.keysAbove(common)]);
  }

  private keysAbove(end: Layer<Key, Value> | null): ReadonlySet<Key> {
    const layers: ReadonlyMap<Key, Value>[] = [this.own];
    for (let layer = this.below; layer && layer !== end; layer = layer.below) layers.push(layer.entries);
    return new Set(layers.reverse().flatMap((entries) => [...entries.keys()]));
  }

  private merged(): Layer<Key, Value> {
    const entries = new Map<Key, Value>();
    for (const key of this.keys()) entries.set(key, this.get(key)!);
    return { entries, below: null, depth: 1 };
  }
}
