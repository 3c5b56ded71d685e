/** Parses `.selvage.yml` and files of facts, with a diagnostic at its line and column for each error. */
import { messageOf } from '../base/text.ts';
import type { StatedAssumption } from '../launch/parameter-source.ts';
import * as v from 'valibot';
import { LineCounter, isMap, isNode, isPair, isScalar, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import type { Configuration, ConfiguredSuppression, KernelConfiguration } from './configuration.ts';
import { withDefaults } from './configuration-defaults.ts';
import { defaultConfiguration } from './defaults.ts';
import { gpuOf } from '../device/gpus.ts';
import { nearest } from '../base/nearest.ts';
import { parseAssumption } from '../assumptions/assumption-parser.ts';
import { printAssumption } from '../assumptions/print-assumption.ts';
import { kernelPatternProblem } from '../cuda/names/kernel-pattern.ts';
import { codes } from '../source/codes.ts';
import type { Code } from '../source/codes.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import { configurationSchema, factsSchema, knownFactKeys, knownKeys } from './configuration-schema.ts';
import type { ConfigurationText } from './configuration-schema.ts';
import { type CostThresholds, type Limit, parseLimit, parseThreshold, type Threshold, thresholdsProblem } from './cost-policy.ts';
import type { Metric } from '../cost/model/metrics.ts';
import { dimensionsProblem } from './dimensions.ts';

type Path = readonly (string | number)[];

/** Maximum number of characters of a configuration. */
const maximumLength = 1_000_000;
const maximumAliases = 100;

/**
 * Parses a configuration. If a diagnostic is an error, the configuration returned is the default one.
 * @param text - YAML
 * @param file - its path, for the locations
 * @param defaults - values of keys that the configuration does not set
 */
export function parseConfiguration(
  text: string,
  file: string,
  defaults = defaultConfiguration,
): { configuration: Configuration; diagnostics: Diagnostic[] } {
  const opened = open(text, file, { schema: configurationSchema, knownKeys, noun: 'configuration' });
  const { diagnostics, output, data, at, refuse, wrong } = opened;
  const failed = () => ({ configuration: defaults, diagnostics });
  if (!output) return failed();
  const kernels = kernelEntries(output.kernels, opened);
  const suppressions = output.suppress.flatMap(({ code, reason, path, until }, index): ConfiguredSuppression[] => {
    if (!isCode(code)) {
      const close = nearest(code, Object.keys(codes));
      wrong(['suppress', index, 'code'], `is not the code of a finding${close === undefined ? '' : `; did you mean ${close}?`}`);
      return [];
    }
    const location = at(['suppress', index]);
    return [{ code, reason, ...(path === undefined ? {} : { path }), ...(until === undefined ? {} : { until }), location }];
  });
  const cost: Partial<Record<Metric, { warn?: Threshold; fail?: Threshold }>> = {};
  for (const [name, entry] of Object.entries(output.checks.cost)) {
    if (!entry) continue;
    const metric = name as Metric;
    const path: Path = ['checks', 'cost', metric];
    const thresholds: { warn?: Threshold; fail?: Threshold } = {};
    for (const kind of ['warn', 'fail'] as const) {
      const given = entry[kind];
      if (given === undefined) continue;
      const parsed = parseThreshold(metric, given);
      if ('error' in parsed) refuse('config/threshold', `${show([...path, kind])} ${parsed.error}.`, at([...path, kind]));
      else thresholds[kind] = parsed;
    }
    const problem = thresholdsProblem(thresholds);
    if (problem !== undefined)
      refuse('config/threshold', `${show([...path, 'warn'])} is ${thresholds.warn!.text} and ${problem}.`, at([...path, 'warn']));
    cost[metric] = thresholds;
  }
  if (diagnostics.length > 0) return failed();
  const own = configurationOf(output, kernels, suppressions, cost);
  if (defaults === defaultConfiguration) return { configuration: own, diagnostics };
  const isGiven = (...path: readonly string[]): boolean => {
    const value = path.reduce((outer: unknown, key) => (outer as Record<string, unknown> | undefined)?.[key], data);
    return Array.isArray(value) ? value.length > 0 : value !== undefined;
  };
  return { configuration: withDefaults(own, defaults, isGiven), diagnostics };
}

/**
 * Parses the file of facts that `--facts` names: JSON with entries on kernels, like `kernels` of a configuration.
 * @param text - JSON
 * @param file - its path, for the locations
 * @returns no entries if a diagnostic is an error
 */
export function parseFacts(text: string, file: string): { kernels: readonly KernelConfiguration[]; diagnostics: Diagnostic[] } {
  const problem = jsonProblem(text, file);
  if (problem) return { kernels: [], diagnostics: [problem] };
  const opened = open(text, file, { schema: factsSchema, knownKeys: knownFactKeys, noun: 'file of facts' });
  const kernels = kernelEntries(opened.output?.kernels ?? [], opened);
  const { diagnostics } = opened;
  if (diagnostics.length > 0) return { kernels: [], diagnostics };
  return { kernels: kernels.map((entry) => ({ ...entry, isFact: true })), diagnostics };
}

/** YAML is a superset of JSON: text that other programs could not parse is rejected. */
function jsonProblem(text: string, file: string): Diagnostic | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const reason = messageOf(error);
    const offset = /at position (\d+)/.exec(reason)?.[1];
    // For a short file, the engine quotes the file instead of naming the position. The location is then the end or the
    // start.
    const end = /end of JSON/.test(reason) ? text.length : 0;
    const lines = text.slice(0, offset === undefined ? end : Number(offset)).split('\n');
    const told = reason.replace(/ at position \d+| \(line \d+ column \d+\)|, "[^]*$/g, '');
    const message = `This is not valid JSON: ${sentence(told)} Names and strings need double quotes, and no comma may precede a closing bracket.`;
    const location = { file, line: lines.length, column: lines.at(-1)!.length + 1 };
    return { severity: 'error', code: 'config/yaml', message, location };
  }
}

/** A kind of file: its schema, and its name in messages. */
interface FileForm<Schema extends v.GenericSchema> {
  readonly schema: Schema;
  readonly knownKeys: (path: readonly unknown[]) => string[];
  readonly noun: string;
}

/** A parsed file, and the locations of its values. */
interface OpenedFile<Output> {
  readonly diagnostics: Diagnostic[];
  /** Parsed contents; undefined if the file does not match its schema, as the diagnostics state. */
  readonly output?: Output;
  readonly data?: unknown;
  readonly at: (path: Path) => Location;
  /** The location of the character with this index in the text at a path. */
  readonly inside: (path: Path, index: number) => Location;
  readonly refuse: (code: Code, message: string, location: Location) => void;
  readonly wrong: (path: Path, message: string) => void;
}

function open<Schema extends v.GenericSchema>(text: string, file: string, form: FileForm<Schema>): OpenedFile<v.InferOutput<Schema>> {
  const lineCounter = new LineCounter();
  const diagnostics: Diagnostic[] = [];
  const placeOf = (offset: number): Location => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const refuse = (code: Code, message: string, location: Location): void => {
    diagnostics.push({ severity: 'error', code, message, location });
  };
  const beginning = (): Location => ({ file, line: 1 });
  const unread = { diagnostics, refuse, at: beginning, inside: beginning, wrong: () => undefined };

  if (text.length > maximumLength) {
    refuse('config/yaml', `The file has more than ${maximumLength} characters.`, { file, line: 1 });
    return unread;
  }
  const document = parseDocument(text, { lineCounter, prettyErrors: false, intAsBigInt: true });
  for (const { message, pos } of [...document.errors, ...document.warnings]) {
    // The parser recurses for each level of nesting and may overflow the stack.
    const told = /call stack/.test(message) ? 'lists and mappings are nested too deeply; write them flat' : message;
    refuse('config/yaml', `This is not valid YAML: ${sentence(told)}`, placeOf(pos[0]));
  }
  if (diagnostics.length > 0) return unread;
  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: maximumAliases }) ?? {};
  } catch {
    refuse('config/yaml', `Aliases (*name) expand to more than ${maximumAliases} nodes; write the values out.`, {
      file,
      line: 1,
    });
    return unread;
  }

  const at = (path: Path): Location => placeOf(nodeAt(document, path)?.range?.[0] ?? 0);
  const inside = (path: Path, index: number): Location => {
    const offset = scalarOffset(nodeAt(document, path), text, index);
    return offset === undefined ? at(path) : placeOf(offset);
  };
  const wrong = (path: Path, message: string): void => refuse('config/wrong-type', `${show(path)} ${message}.`, at(path));
  const opened = { diagnostics, data, at, inside, refuse, wrong };
  const result = v.safeParse(form.schema, data);
  for (const issue of result.issues ?? []) {
    const { code, message, location } = describe(issue, document, text, placeOf, form);
    refuse(code, message, location);
  }
  if (!result.success) {
    const start = ({ location }: Diagnostic): number => (location?.line ?? 0) * 1e6 + (location?.column ?? 0);
    diagnostics.sort((a, b) => start(a) - start(b));
    return opened;
  }
  return { ...opened, output: result.output };
}

/** An entry on kernels as the schema returns it; facts have no limits. */
type KernelEntry = v.InferOutput<typeof factsSchema>['kernels'][number] & Partial<Pick<ConfigurationText['kernels'][number], 'limits'>>;

function kernelEntries(
  entries: readonly KernelEntry[],
  { at, inside, refuse, wrong }: Pick<OpenedFile<unknown>, 'at' | 'inside' | 'refuse' | 'wrong'>,
): KernelConfiguration[] {
  return entries.map((entry, index): KernelConfiguration => {
    const path: Path = ['kernels', index];
    const problem = kernelPatternProblem(entry.match, false);
    if (problem !== undefined) wrong([...path, 'match'], problem);
    for (const kind of ['block', 'grid', 'cluster'] as const) {
      const extents = entry[kind];
      const outOfRange = extents && dimensionsProblem(kind, extents);
      if (outOfRange !== undefined) wrong([...path, kind], outOfRange);
    }
    for (const name of Object.keys(entry.args)) {
      if (!/^[A-Za-z_]\w*(?:\.\w+)*$/.test(name)) wrong([...path, 'args', name], 'is not a parameter name');
    }
    const assumptions = entry.assume.flatMap((assumption, position): StatedAssumption[] => {
      const place = [...path, 'assume', position];
      const parsed = parseAssumption(assumption);
      if (!('error' in parsed)) {
        return [{ expression: parsed.expression, text: printAssumption(parsed.expression), location: at(place) }];
      }
      refuse('assumption/syntax', `In "${assumption}": ${parsed.error}.`, inside(place, parsed.column - 1));
      return [];
    });
    const limits: Partial<Record<Metric, Limit>> = {};
    for (const [name, limit] of Object.entries(entry.limits ?? {})) {
      if (limit === undefined) continue;
      const metric = name as Metric;
      const place = [...path, 'limits', metric];
      if (typeof limit === 'number') {
        limits[metric] = { text: `<= ${limit}`, location: at(place), strict: false, value: limit };
        continue;
      }
      const parsed = parseLimit(metric, limit);
      if (!('error' in parsed)) {
        limits[metric] = { ...parsed, location: at(place) };
        continue;
      }
      refuse('config/limit', `${show(place)}: in "${limit}", ${parsed.error}.`, inside(place, parsed.column - 1));
    }
    const { block, grid, cluster, shared, cooperative } = entry;
    return {
      match: entry.match,
      ...(block ? { block } : {}),
      ...(grid ? { grid } : {}),
      ...(cluster ? { cluster } : {}),
      ...(shared === undefined ? {} : { sharedBytes: shared }),
      ...(cooperative === undefined ? {} : { cooperative }),
      assumptions,
      args: new Map(Object.entries(entry.args)),
      limits,
      location: at(path),
    };
  });
}

function gpuIn(name: string | undefined): Pick<Configuration, 'gpu'> {
  const gpu = name === undefined ? undefined : gpuOf(name);
  return gpu ? { gpu } : {};
}

function configurationOf(
  { arch, gpu, nvcc, paths, checks }: ConfigurationText,
  kernels: readonly KernelConfiguration[],
  suppressions: readonly ConfiguredSuppression[],
  cost: CostThresholds,
): Configuration {
  const { race, divergence, memory, repair, idempotency } = checks;
  const compileCommands = nvcc['compile-commands'];
  const sameValueWrites = race['same-value-writes'];
  return {
    arch: arch.length > 0 ? arch : defaultConfiguration.arch,
    ...gpuIn(gpu),
    nvcc: {
      args: nvcc.args,
      compileCommands: typeof compileCommands === 'string' ? [compileCommands] : (compileCommands ?? []),
      stubsMissingHeaders: nvcc['stub-missing-headers'],
    },
    paths,
    kernels,
    checks: {
      race: {
        severity: race.severity,
        sameValueWrites: sameValueWrites === 'allow' ? 'proved' : sameValueWrites,
        volatile: race.volatile,
        undecided: race.undecided,
        warpLockstep: race['warp-lockstep'],
      },
      divergence: { severity: divergence.severity, earlyExit: divergence['early-exit'] },
      memory: { overflow: memory.overflow, alignment: memory.alignment },
      repair: {
        suggest: repair.suggest,
        gridLevel: repair['grid-level'],
        removeRedundant: repair['remove-redundant'],
        weights: { grid: repair['grid-weight'], loop: repair['loop-weight'] },
      },
      cost,
      idempotency,
    },
    suppressions,
  };
}

function describe(
  issue: v.BaseIssue<unknown>,
  document: Document,
  text: string,
  placeOf: (offset: number) => Location,
  { knownKeys: keysAt, noun }: Pick<FileForm<v.GenericSchema>, 'knownKeys' | 'noun'>,
): { code: Code; message: string; location: Location } {
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  const parent = path.slice(0, -1);
  const key = String(path.at(-1));
  const inside = parent.length === 0 ? '' : ` of ${show(parent)}`;
  const place = (node: Node | undefined): Location => placeOf(node?.range?.[0] ?? 0);
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const known = keysAt(parent);
    const close = nearest(key, known);
    const hint = close === undefined ? `there are ${known.join(', ')}` : `did you mean "${close}"?`;
    const message = `"${key}" is not a key${inside === '' ? ` of the ${noun}` : inside}; ${hint}${hint.endsWith('?') ? '' : '.'}`;
    return { code: 'config/unknown-key', message, location: place(keyNode(document, path)) };
  }
  if (issue.type === 'strict_object' && issue.received === 'undefined' && path.length > 0) {
    const example = key === 'version' ? '; write version: 1' : '';
    const message = `The key "${key}"${inside} is missing${example}.`;
    return { code: 'config/missing-key', message, location: place(nodeAt(document, parent)) };
  }
  const [deepest] = deepestIssues(issue);
  const deepPath = [...path, ...(deepest === issue ? [] : (deepest?.path ?? []).map((item) => item.key as string | number))];
  const value = nodeAt(document, deepPath);
  const subject = deepPath.length === 0 ? `The ${noun}` : show(deepPath);
  const problem = deepest?.message ?? issue.message;
  const written = isScalar(value) && value.range ? text.slice(value.range[0], value.range[1]).slice(0, 60) : '';
  const code = path[0] === 'version' ? 'config/version' : 'config/wrong-type';
  const message = written && problem.startsWith('must') ? `${subject} is ${written}; it ${problem}.` : `${subject} ${problem}.`;
  return { code, message, location: place(value) };
}

/** If a value matches no alternative of a union, the issues of the alternative that matched furthest. */
function deepestIssues(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const inner = (issue.issues ?? []).flatMap(deepestIssues).filter(({ path }) => (path?.length ?? 0) > 0);
  return [...inner, issue];
}

/** A path as text: `kernels[0].block`. */
function show(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}

/** The node at a path; if it does not exist, the innermost enclosing node. */
function nodeAt(document: Document, path: Path): Node | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node;
  }
  return undefined;
}

function keyNode(document: Document, path: Path): Node | undefined {
  const map = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1))) : undefined;
  return isPair(pair) && isNode(pair.key) ? pair.key : nodeAt(document, path);
}

/** The offset in the file of a character of a scalar; undefined if the scalar is escaped and not written literally. */
function scalarOffset(node: Node | undefined, text: string, index: number): number | undefined {
  if (!isScalar(node) || !node.range || typeof node.value !== 'string') return undefined;
  const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
  const start = node.range[0] + (quoted ? 1 : 0);
  return text.startsWith(node.value, start) ? start + index : undefined;
}

function isCode(text: string): text is Code {
  return Object.hasOwn(codes, text);
}

function sentence(message: string): string {
  const text = message.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
