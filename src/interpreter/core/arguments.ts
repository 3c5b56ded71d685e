/** Global memory that a pointer argument refers to. */
export interface GlobalBuffer {
  readonly name: string;
  /** Length in bytes; null: unbounded, every address near the base is in bounds. */
  readonly bytes: number | null;
  /** Bytes of an element: 1, 2, 4, 8 or 16. */
  readonly elementBytes: number;
  /** Bit pattern of every element that `values` does not list. */
  readonly fill: bigint;
  /** Elements that differ from `fill`, by element index. */
  readonly values: ReadonlyMap<number, bigint>;
  /** Pointers into another buffer, stored as elements of 8 bytes: the first points to its start. */
  readonly pointers?: { readonly buffer: number; readonly spacing: number; readonly elements: readonly number[] };
  /** The whole contents, little-endian; replaces `fill` and `values`. */
  readonly initial?: Uint8Array;
  /** Whether a read of a byte that no thread has written is a fault. */
  readonly uninitialised?: boolean;
}

/** The value of a kernel parameter; `buffer` is an index into the request's buffers, `offset` in bytes. */
export type Argument =
  | { readonly kind: 'scalar'; readonly value: bigint }
  | { readonly kind: 'pointer'; readonly buffer: number; readonly offset: bigint }
  | {
      readonly kind: 'struct';
      readonly bytes: Uint8Array;
      /** Pointers stored at byte offsets `at`. */
      readonly pointers: readonly { readonly at: number; readonly buffer: number; readonly offset: bigint }[];
    };
