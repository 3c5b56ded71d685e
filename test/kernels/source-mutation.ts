/** Changes to the source of kernels that usually still compile: one barrier, guard, stride, atomic or index. */

export const parts = ['barrier', 'guard', 'stride', 'atomic', 'index'] as const;
export type Part = (typeof parts)[number];

/** One change to the text of a file. */
export interface Site {
  readonly part: Part;
  /** The name of the kernel that it is in, without namespace and template arguments. */
  readonly kernel: string;
  /** Characters of the file. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The body of a kernel in a text: offsets after its opening brace, and of its closing one. */
interface Body {
  readonly kernel: string;
  readonly from: number;
  readonly to: number;
}

/** The text with spaces instead of comments. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
}

/** The offset of the bracket that closes the one at an offset; the end of the text if none does. */
function closing(code: string, open: number): number {
  const pairs: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
  const [left, right] = [code[open]!, pairs[code[open]!]!];
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === left) depth++;
    else if (code[at] === right && --depth === 0) return at;
  }
  return code.length;
}

function bodiesOf(code: string): Body[] {
  return [...code.matchAll(/__global__/g)].flatMap(({ index }) => {
    const head = /(?<!\w)(?!__)(\w+)\s*\(/g;
    head.lastIndex = index + '__global__'.length;
    const match = head.exec(code);
    if (!match) return [];
    const end = closing(code, match.index + match[0].length - 1);
    const next = /[{;]/g;
    next.lastIndex = end;
    const open = next.exec(code);
    if (open?.[0] !== '{') return [];
    return [{ kernel: match[1]!, from: open.index + 1, to: closing(code, open.index) }];
  });
}

/** Non-atomic replacements of an atomic operation. */
const plain: Readonly<Record<string, (place: string, value: string) => string>> = {
  Add: (place, value) => `(${place} += ${value})`,
  Sub: (place, value) => `(${place} -= ${value})`,
  Or: (place, value) => `(${place} |= ${value})`,
  And: (place, value) => `(${place} &= ${value})`,
  Xor: (place, value) => `(${place} ^= ${value})`,
  Exch: (place, value) => `(${place} = ${value})`,
  Max: (place, value) => `(${place} = max(${place}, ${value}))`,
  Min: (place, value) => `(${place} = min(${place}, ${value}))`,
};

/** The arguments between two offsets. */
function splitArguments(code: string, from: number, to: number): string[] {
  const list: string[] = [];
  let start = from;
  for (let at = from; at < to; at++) {
    if ('([{'.includes(code[at]!)) at = closing(code, at);
    else if (code[at] === ',') {
      list.push(code.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...list, code.slice(start, to).trim()];
}

/** All possible changes to the kernels of a text. */
export function sitesOf(text: string): Site[] {
  const code = withoutComments(text);
  return bodiesOf(code).flatMap((body) => [
    ...barriers(code, body),
    ...guards(code, body),
    ...strides(code, body),
    ...atomics(code, body),
    ...indices(code, body),
  ]);
}

/** The text with one change. */
export function changed(text: string, { from, to, text: other }: Site): string {
  return text.slice(0, from) + other + text.slice(to);
}

type Rewrite = (found: string, groups: readonly string[]) => readonly string[];

/** Changes where a pattern matches in a body. */
function rewritten(code: string, { kernel, from, to }: Body, part: Part, pattern: RegExp, rewrite: Rewrite): Site[] {
  return [...code.slice(from, to).matchAll(pattern)].flatMap((match) => {
    const { index } = match;
    const [found, ...groups] = match;
    return rewrite(found, groups).map((other) => ({
      part,
      kernel,
      from: from + index,
      to: from + index + found.length,
      text: other,
    }));
  });
}

function barriers(code: string, body: Body): Site[] {
  return [
    ...rewritten(code, body, 'barrier', /__syncthreads\(\);/g, () => [';', ';', '__syncwarp();', 'if (threadIdx.x < 16) __syncthreads();']),
    ...rewritten(code, body, 'barrier', /__syncwarp\([^()]*\);|\b[\w.]+(?:\(\))?\.(?:sync|arrive_and_wait)\([^()]*\);/g, () => [';']),
  ];
}

/** Comparisons in the condition of an `if`, and whole conditions. */
function guards(code: string, body: Body): Site[] {
  const { kernel } = body;
  const others: Readonly<Record<string, readonly string[]>> = {
    '<': ['<=', '!='],
    '<=': ['<', '!='],
    '>': ['>=', '!='],
    '>=': ['>', '!='],
    '==': ['>=', '<='],
    '!=': ['>=', '<='],
  };
  return [...code.slice(body.from, body.to).matchAll(/\bif\s*\(/g)].flatMap(({ index, 0: found }) => {
    const from = body.from + index + found.length;
    const to = closing(code, from - 1);
    const inside = rewritten(code, { kernel, from, to }, 'guard', / (<|<=|>|>=|==|!=) /g, (_, [operator]) =>
      others[operator!]!.map((other) => ` ${other} `),
    );
    return [...inside, { part: 'guard' as const, kernel, from, to, text: 'true' }];
  });
}

/** Steps of loops, and factors of rows and blocks. */
function strides(code: string, body: Body): Site[] {
  const other = (stride: string): string[] => [`(${stride} - 1)`, `(${stride} + 1)`, `(${stride} / 2)`];
  return [
    ...rewritten(code, body, 'stride', /(\w+ \+= )((?:[\w.]+ \* )?[\w.]+)(?=\))/g, (_, [start, step]) => [
      `${start}((${step}) / 2 + 1)`,
      `${start}((${step}) - ((${step}) > 1))`,
      `${start}1`,
    ]),
    ...rewritten(code, body, 'stride', /(\w+ )(>>=|<<=|\/=|\*=)( \w+)(?=\))/g, (_, [name, operator, by]) => [
      `${name}${operator} (2 *${by})`,
    ]),
    ...rewritten(code, body, 'stride', /blockDim\.(\w) \* gridDim\.\w|gridDim\.(\w) \* blockDim\.\w/g, () => ['blockDim.x', 'gridDim.x']),
    ...rewritten(code, body, 'stride', /(\* )([A-Za-z_][\w.]*|\d+)(?= \+ [\w(])/g, (_, [times, stride]) =>
      other(stride!).map((text) => times + text),
    ),
    ...rewritten(code, body, 'stride', /(\+ [\w.]+ \* )([A-Za-z_][\w.]*|\d+)(?=[;\],)])/g, (_, [start, stride]) =>
      other(stride!).map((text) => start + text),
    ),
    ...rewritten(code, body, 'stride', /(\+ (?:stride|step|s|d|offset|half|width|distance)\b)(?=\])/g, (found) => [
      `${found} + 1`,
      `${found} / 2`,
    ]),
  ];
}

function atomics(code: string, body: Body): Site[] {
  const { kernel } = body;
  const calls = [...code.slice(body.from, body.to).matchAll(/\batomic([A-Z][A-Za-z]+)(_block|_system)?\s*\(/g)].flatMap(
    ({ index, 0: found, 1: name }) => {
      const from = body.from + index;
      const open = from + found.length - 1;
      const to = closing(code, open) + 1;
      const [pointer = '', ...values] = splitArguments(code, open + 1, to - 1);
      const value = values.at(-1) ?? '0';
      const make = plain[name!];
      const texts = [...(make ? [make(`*(${pointer})`, value)] : []), `atomic${name}_block(${[pointer, ...values].join(', ')})`];
      return texts.map((text): Site => ({ part: 'atomic', kernel, from, to, text }));
    },
  );
  return [
    ...calls,
    ...rewritten(code, body, 'atomic', /__threadfence\(\);/g, () => [';', '__threadfence_block();']),
    ...rewritten(code, body, 'atomic', /memory_order_(?:release|acquire|acq_rel|seq_cst)/g, () => ['memory_order_relaxed']),
    ...rewritten(code, body, 'atomic', /thread_scope_(?:device|system)/g, () => ['thread_scope_block']),
    ...rewritten(code, body, 'atomic', /\bvolatile /g, () => ['']),
  ];
}

/** Subscripts, but not the extents of declarations. */
function indices(code: string, body: Body): Site[] {
  const { kernel } = body;
  return [...code.slice(body.from, body.to).matchAll(/(?<=[\w\])])\[/g)].flatMap(({ index }) => {
    const open = body.from + index;
    const line = code.slice(code.lastIndexOf('\n', open) + 1, open);
    if (/__shared__|^\s*(?:const )?(?:float|double|int|unsigned|char|short|long|bool)\b[\w\s*]*$/.test(line)) return [];
    const to = closing(code, open);
    const inner = code.slice(open + 1, to);
    if (inner.trim() === '') return [];
    return [`(${inner}) + 1`, `(${inner}) / 2`, `(${inner}) ^ 1`, `(${inner}) - ((${inner}) > 0)`].map((text): Site => ({
      part: 'index',
      kernel,
      from: open + 1,
      to,
      text,
    }));
  });
}
