/** Global memory that a pointer argument refers to. */
export interface GlobalBuffer {
  readonly name: string;
  /** Length in bytes; null: no end, every address near it is in bounds. */
  readonly bytes: number | null;
  /** Bytes of an element: 1, 2, 4, 8 or 16. */
  readonly elementBytes: number;
  /** Bit pattern of every element that `values` does not list. */
  readonly fill: bigint;
  /** By element index if they differ from `fill`. */
  readonly values: ReadonlyMap<number, bigint>;
  /** Pointers into another buffer, stored as elements of 8 bytes: the first points to its start. */
  readonly pointers?: { readonly buffer: number; readonly spacing: number; readonly elements: readonly number[] };
  /** All contents, little-endian, instead of `fill` and `values`. */
  readonly initial?: Uint8Array;
  /** A read of a byte that no thread has written is a fault. */
  readonly uninitialised?: boolean;
}

/** The value of a kernel parameter; `buffer` is an index into the request's buffers, `offset` in bytes. */
export type Argument =
  | { readonly kind: 'scalar'; readonly value: bigint }
  | { readonly kind: 'pointer'; readonly buffer: number; readonly offset: bigint }
  | {
      readonly kind: 'struct';
      readonly bytes: Uint8Array;
      /** Pointers to put at byte `at`. */
      readonly pointers: readonly { readonly at: number; readonly buffer: number; readonly offset: bigint }[];
    };
