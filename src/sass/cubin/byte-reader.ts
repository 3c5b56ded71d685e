/** Little-endian fields of a file that may be damaged. */

/** Thrown for a damaged file; its message is shown to the user. */
export class DamagedFile extends Error {
  override name = 'DamagedFile';
}

/** Reads fields one after the other. Reads outside of the bytes throw {@link DamagedFile}. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Name of the bytes in error messages: "the line table". */
  readonly #what: string;
  at: number;

  constructor(bytes: Uint8Array, what: string, at = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#what = what;
    this.at = at;
  }

  get length(): number {
    return this.#bytes.length;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  #advance(bytes: number): number {
    const { at } = this;
    if (bytes < 0 || at < 0 || at + bytes > this.#bytes.length) {
      throw new DamagedFile(`${this.#what} ends at byte ${this.#bytes.length}, before what it should hold`);
    }
    this.at = at + bytes;
    return at;
  }

  u8(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined) this.#advance(1);
    this.at++;
    return byte!;
  }

  s8(): number {
    return this.#view.getInt8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  /** An unsigned 64-bit offset or size; no file that is read here has 2^53 bytes. */
  offset(): number {
    const at = this.#advance(8);
    const high = this.#view.getUint32(at + 4, true);
    if (high >= 2 ** 21) {
      const value = this.#view.getBigUint64(at, true);
      throw new DamagedFile(`${this.#what} has the offset or size ${value}, which is larger than any file`);
    }
    return high * 2 ** 32 + this.#view.getUint32(at, true);
  }

  /** A signed 64-bit addend. */
  addend(): number {
    return Number(this.#view.getBigInt64(this.#advance(8), true));
  }

  /** An unsigned number of variable length (DWARF 2, 7.6). */
  uleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw new DamagedFile(`${this.#what} has a number that is too long`);
      if (byte < 128) return value;
    }
  }

  /** A signed number of variable length (DWARF 2, 7.6). */
  sleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw new DamagedFile(`${this.#what} has a number that is too long`);
      if (byte < 128) return byte & 0x40 ? value - scale * 128 : value;
    }
  }

  /** Text up to a zero byte. */
  text(): string {
    const end = endOfText(this.#bytes, this.at, this.#what);
    const from = this.#advance(end + 1 - this.at);
    return decoder.decode(this.#bytes.subarray(from, end));
  }

  skip(bytes: number): void {
    this.#advance(bytes);
  }

  slice(bytes: number): Uint8Array {
    const from = this.#advance(bytes);
    return this.#bytes.subarray(from, from + bytes);
  }
}

const decoder = new TextDecoder();

function endOfText(bytes: Uint8Array, from: number, what: string): number {
  const end = bytes.indexOf(0, from);
  if (end < 0) throw new DamagedFile(`${what} has a text without an end`);
  return end;
}

/** The text at an offset of a table of texts, such as `.strtab`. */
export function textAt(table: Uint8Array, offset: number, what: string): string {
  return decoder.decode(table.subarray(offset, endOfText(table, offset, what)));
}
