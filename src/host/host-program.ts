/** The units of a host program, and how the symbols of one are found in another. */
import type { HostUnit } from './host-unit.ts';

/** Functions that run device work at other times than the order of the calls, or in other threads of the program. */
const elsewhere =
  /(?:cudaStreamCreateWith\w*|cuStreamCreate\w*|\w*BeginCapture\w*|\w+_(?:ptsz|ptds)|cudaGetSymbolAddress|cuModuleGetGlobal|cudaIpc\w*|pthread_create|_M_start_thread\w*|GOMP_\w+|\w*LaunchHostFunc|\w*AddCallback|_ZN6thrust\w*)D\.\d+/;

/** Functions that change attributes of kernels. */
const attributes = /\w*(?:Func|Kernel)SetAttribute\w*D\.\d+/;

/** Functions that start threads, or call functions of the program from other threads. */
const threads = /(?:pthread_create|_M_start_thread\w*|GOMP_\w+|\w*LaunchHostFunc|\w*AddCallback)D\.\d+/;

export class HostProgram {
  readonly units: readonly HostUnit[];
  readonly #byPath: ReadonlyMap<string, HostUnit>;
  /** Units by the functions of external linkage that they define. */
  readonly #definitions = new Map<string, HostUnit>();

  /** Whether copies and kernels run in the order of the calls. */
  readonly isInOrder: boolean;

  /** Whether the default stream is that of a thread (`--default-stream per-thread`). */
  readonly hasThreadStreams: boolean;

  /** Whether nodes of graphs change, or get edges, after they were added. */
  readonly changesNodes: boolean;

  /** Whether several threads may run. */
  readonly hasThreads: boolean;

  /** Whether no function changes attributes of kernels, such as the bytes of dynamic shared memory that they may have. */
  readonly keepsAttributes: boolean;

  constructor(units: readonly HostUnit[]) {
    this.hasThreadStreams = units.some((unit) => unit.mentions(/_(?:ptsz|ptds)D\.\d+/));
    this.changesNodes = units.some((unit) =>
      unit.mentions(/Graph\w*(?:Dependencies|SetParams|SetEnabled|SetAttribute|DestroyNode)\w*D\.\d+/),
    );
    this.hasThreads = units.some((unit) => unit.mentions(threads));
    this.keepsAttributes = units.every((unit) => !unit.mentions(attributes));
    this.isInOrder = units.every((unit) => !unit.mentions(elsewhere));
    this.units = units;
    this.#byPath = new Map(units.map((unit) => [unit.path, unit]));
    for (const unit of units)
      for (const symbol of unit.definitions())
        if (unit.linkageOf(symbol) === 'external' && !this.#definitions.has(symbol)) this.#definitions.set(symbol, unit);
  }

  /** The function that a name denotes in a unit; null if no unit defines it. */
  resolve(name: string, from: HostUnit): { readonly unit: HostUnit; readonly symbol: string } | null {
    const [path, symbol] = /^(.*)!([^!]*)$/s.exec(name)?.slice(1) ?? [undefined, name];
    const own = path === undefined ? undefined : this.#byPath.get(path);
    if (own) return { unit: own, symbol: symbol! };
    if (from.isDefined(name)) return { unit: from, symbol: from.definition(name) };
    const other = this.#definitions.get(name);
    return other ? { unit: other, symbol: other.definition(name) } : null;
  }

  /** The unit that defines a variable; the given one if none does. */
  unitOfData(symbol: string, from: HostUnit): HostUnit {
    if (from.dataOf(symbol)) return from;
    return this.units.find((unit) => unit.dataOf(symbol) && unit.linkageOf(symbol) !== 'internal') ?? from;
  }
}
