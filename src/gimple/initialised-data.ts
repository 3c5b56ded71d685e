/** Variables with static storage and string literals, as the assembly that GCC prints initialises them. */

/** A variable with static storage as the assembly initialises it. */
export interface DataObject {
  readonly symbol: string;
  readonly bytes: number;
  /** In a section that nothing writes to. */
  readonly isReadOnly: boolean;
  /** No other unit can name it. */
  readonly isInternal: boolean;
  readonly isWeak: boolean;
  /** Initial contents. They are 0 at {@link pointers}. */
  readonly contents: Uint8Array;
  /** Addresses of 8 bytes in it, by offset. */
  readonly pointers: ReadonlyMap<number, DataAddress>;
}

/** `symbol+addend` */
interface DataAddress {
  readonly symbol: string;
  readonly addend: number;
}

/** Larger objects are left out. */
const maximumBytes = 1 << 20;

/**
 * Reads the objects of a unit: those that have a type, and literals. An object is left out if a directive in it, or an
 * expression, is not understood. Thread-local objects are left out: each thread has its own.
 */
export function readInitialisedData(assembly: string): ReadonlyMap<string, DataObject> {
  const reader = new Reader();
  const end = assembly.indexOf('\n\t.section\t.debug_');
  const length = end < 0 ? assembly.length : end + 1;
  for (let at = 0; at < length;) {
    const newline = assembly.indexOf('\n', at);
    const to = newline < 0 ? assembly.length : newline;
    const first = assembly.charCodeAt(at);
    if (first === 9 /* tab */) {
      if (assembly.charCodeAt(at + 1) === 46 /* . */) reader.directive(assembly.slice(at + 1, to));
    } else if (first !== 35 /* # */ && to > at) {
      if (assembly.charCodeAt(to - 1) === 58 /* : */) reader.label(assembly.slice(at, to - 1));
      else reader.unknownLine();
    }
    at = to + 1;
  }
  return reader.finished();
}

/** Directives that change neither contents nor what is being read, by far the most of a text. */
const isOther = /^\.(?:cfi_|(?:loc|file|hidden|protected|internal|ident|set)\s)/;

/** An object of which the directives are being read. */
interface OpenObject {
  readonly symbol: string;
  readonly isReadOnly: boolean;
  readonly parts: number[];
  readonly pointers: Map<number, DataAddress>;
  /** Padding was last, of which the size depends on the address. */
  isPadded: boolean;
  isUnknown: boolean;
}

/** An object without what only the whole text determines. */
type ReadObject = Omit<DataObject, 'isInternal' | 'isWeak'>;

class Reader {
  /** '' if it is unknown, or holds no objects. */
  private section = '';
  private open: OpenObject | null = null;
  private readonly typed = new Set<string>();
  private readonly sizes = new Map<string, number>();
  private readonly visible = new Set<string>();
  private readonly local = new Set<string>();
  private readonly weak = new Set<string>();
  private readonly objects = new Map<string, ReadObject>();

  label(symbol: string): void {
    this.close();
    if (this.section === '' || (!this.typed.has(symbol) && !/^\.LC\d+$/.test(symbol))) return;
    const isReadOnly = /^\.(?:rodata|data\.rel\.ro)(?:\.|$)/.test(this.section);
    this.open = { symbol, isReadOnly, parts: [], pointers: new Map(), isPadded: false, isUnknown: false };
  }

  /** A line that GCC does not print. */
  unknownLine(): void {
    this.enter('');
  }

  directive(text: string): void {
    if (isOther.test(text)) return;
    const tab = text.search(/\s/);
    const name = tab < 0 ? text : text.slice(0, tab);
    const operands = tab < 0 ? '' : text.slice(tab + 1);
    switch (name) {
      case '.text':
      case '.pushsection':
      case '.popsection':
      case '.previous':
      case '.subsection':
        this.enter('');
        break;
      case '.data':
      case '.bss':
        this.enter(name);
        break;
      case '.section':
        this.enter(dataSection(operands));
        break;
      case '.align':
      case '.p2align':
      case '.balign':
        if (this.open) this.open.isPadded = true;
        break;
      case '.globl':
      case '.weak':
      case '.local':
      case '.type':
      case '.size':
      case '.comm':
      case '.lcomm':
        this.close();
        this.readDeclaration(name, operands);
        break;
      default:
        if (this.open && !fill(this.open, name, operands)) this.open.isUnknown = true;
    }
  }

  finished(): ReadonlyMap<string, DataObject> {
    this.close();
    return new Map(
      [...this.objects].map(([symbol, one]) => {
        const isWeak = this.weak.has(symbol);
        return [symbol, { ...one, isWeak, isInternal: !isWeak && !this.visible.has(symbol) }];
      }),
    );
  }

  private enter(section: string): void {
    this.close();
    this.section = section;
  }

  private readDeclaration(name: string, operands: string): void {
    const [symbol = '', second = ''] = operands.split(',').map((one) => one.trim());
    if (name === '.globl') this.visible.add(symbol);
    else if (name === '.weak') this.weak.add(symbol);
    else if (name === '.local') this.local.add(symbol);
    else if (name === '.type') {
      if (second === '@object' || second === '@gnu_unique_object') this.typed.add(symbol);
    } else if (name === '.size') {
      if (/^\d+$/.test(second)) this.sizes.set(symbol, Number(second));
    } else if (/^\d+$/.test(second) && Number(second) <= maximumBytes) {
      if (name === '.comm' && !this.local.has(symbol)) this.visible.add(symbol);
      const bytes = Number(second);
      this.objects.set(symbol, { symbol, bytes, isReadOnly: false, contents: new Uint8Array(bytes), pointers: new Map() });
    }
  }

  /** Ends the object that is being read. One of another size than declared is left out. */
  private close(): void {
    if (!this.open) return;
    const { symbol, isReadOnly, parts, pointers, isUnknown } = this.open;
    this.open = null;
    const bytes = this.sizes.get(symbol) ?? parts.length;
    if (isUnknown || bytes !== parts.length || bytes > maximumBytes) return;
    this.objects.set(symbol, { symbol, bytes, isReadOnly, contents: Uint8Array.from(parts), pointers });
  }
}

/** The name of a section of objects: `.rodata.str1.1,"aMS",@progbits,1`. Otherwise ''. */
function dataSection(operands: string): string {
  const [, name = '', flags = ''] = /^([^,\s]+)(?:,"(\w*)")?/.exec(operands) ?? [];
  return /^\.(?:text|tdata|tbss|gcc_except_table)(?:\.|$)/.test(name) || /[Tx]/.test(flags) ? '' : name;
}

const widths: ReadonlyMap<string, number> = new Map(
  Object.entries({ '.byte': 1, '.value': 2, '.short': 2, '.2byte': 2, '.long': 4, '.4byte': 4, '.quad': 8, '.8byte': 8 }),
);

/** @returns false if the directive is not understood */
function fill(object: OpenObject, name: string, operands: string): boolean {
  const { parts } = object;
  if (object.isPadded || parts.length > maximumBytes) return false;
  const width = widths.get(name);
  if (width !== undefined) return operands.split(',').every((one) => addValue(object, width, one.trim()));
  if (name === '.string' || name === '.ascii') {
    const bytes = bytesOfString(operands);
    if (bytes === null) return false;
    for (const byte of bytes) parts.push(byte);
    if (name === '.string') parts.push(0);
    return true;
  }
  const [, size, value = '0'] = /^(\d+)(?:,\s*(\d+))?$/.exec(operands) ?? [];
  if ((name !== '.zero' && name !== '.space') || size === undefined || Number(size) > maximumBytes) return false;
  for (let count = Number(size); count > 0; count--) parts.push(Number(value) & 255);
  return true;
}

function addValue({ parts, pointers }: OpenObject, width: number, text: string): boolean {
  if (/^-?(?:0x[\da-fA-F]+|[1-9]\d*|0)$/.test(text)) {
    const magnitude = BigInt(text.replace('-', ''));
    let rest = BigInt.asUintN(width * 8, text.startsWith('-') ? -magnitude : magnitude);
    for (let byte = 0; byte < width; byte++, rest >>= 8n) parts.push(Number(rest & 255n));
    return true;
  }
  const [, symbol, sign = '+', addend = '0'] = /^([A-Za-z_.$][\w.$]*)(?:([+-])(0x[\da-fA-F]+|\d+))?$/.exec(text) ?? [];
  if (symbol === undefined || symbol === '.' || width !== 8) return false;
  pointers.set(parts.length, { symbol, addend: sign === '-' ? 0 - Number(addend) : Number(addend) });
  for (let byte = 0; byte < width; byte++) parts.push(0);
  return true;
}

const escapes: ReadonlyMap<string, number> = new Map([
  ['b', 8],
  ['t', 9],
  ['n', 10],
  ['f', 12],
  ['r', 13],
  ['"', 34],
  ['\\', 92],
]);

/** The bytes of one quoted string. */
function bytesOfString(text: string): number[] | null {
  if (!/^"(?:[^"\\]|\\.)*"$/.test(text)) return null;
  const bytes: number[] = [];
  for (const [, code, plain] of text.slice(1, -1).matchAll(/\\([0-7]{1,3}|.)|([^\\])/gsu)) {
    const octal = code !== undefined && /^[0-7]/.test(code) ? Number.parseInt(code, 8) & 255 : undefined;
    const byte = octal ?? (code !== undefined ? escapes.get(code) : plain!.codePointAt(0)!);
    if (byte === undefined || (plain !== undefined && byte > 126)) return null;
    bytes.push(byte);
  }
  return bytes;
}
