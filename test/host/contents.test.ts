/** Contents of device memory that a program fills before a launch, and what invalidates them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { type Found, type Snippet, isOfK, readSnippets, tiesOf } from './fixture.ts';

/** A program that launches `k` with an allocation of 4 integers. */
function filled(body: string, before = ''): Snippet {
  return {
    parameters: [{ name: 'p0', type: 'int*' }],
    text: `static const int table[4] = {2, 0, 3, 1};\n${before}\nvoid run(int parameter, cudaStream_t s) {\nint* a; cudaMalloc(&a, 16);\n${body}\nk<<<1, 4>>>(a);\n}`,
  };
}

/** The contents of the first argument that the last launch of a program is known to have. */
function contentsOf(found: readonly Found[]): string {
  const last = found.filter(isOfK).at(-1);
  assert.equal(last?.sites.length, 1);
  const [site] = last.sites;
  const ties = tiesOf(site).filter((one) => /\[\*\]|distinct/.test(one));
  return [...ties, ...[...site!.contents.arrays.values()].map((values) => values.join())].join('; ');
}

const copied = 'cudaMemcpy(a, table, sizeof(table), cudaMemcpyHostToDevice);';
const all = 'p0[*] in 0..3; distinct(p0); 2,0,3,1';

const known: readonly (readonly [body: string, contents: string, before?: string])[] = [
  [copied, all],
  ['cudaMemcpy(a, table, 16, cudaMemcpyHostToDevice); cudaDeviceSynchronize();', all],
  ['cudaMemset(a, 0, 16);', 'p0[*] in 0..0'],
  ['cudaMemset(a, 0xff, 16);', 'p0[*] in -1..-1'],
  ['int same[4] = {7, 7, 7, 8}; cudaMemcpy(a, same, sizeof(same), cudaMemcpyHostToDevice);', 'p0[*] in 7..8; 7,7,7,8'],
  ['if (parameter) cudaMemset(a, 1, 16); cudaMemset(a, 0, 16);', 'p0[*] in 0..0'],
  ['float* b; cudaMalloc(&b, 64); cudaMemset(a, 0, 16); cudaMemset(b, 1, 64);', 'p0[*] in 0..0'],
  ['for (int i = 0; i < parameter; i++) { cudaMemset(a, 0, 16); k<<<1, 4>>>(a); } cudaMemset(a, 1, 16);', 'p0[*] in 16843009..16843009'],
  // The host writes the source by a pointer.
  ['int own[4] = {1, 2}; int* p = own; p[3] = 3; cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);', 'p0[*] in 0..3; distinct(p0); 1,2,0,3'],
  // Constructors of static objects have run before.
  [copied, all, 'void zero(); struct Guard { Guard() { zero(); } }; Guard guard;'],
  [`${copied} goto out; out: ;`, all],
];

/** Contents that the text decides, although the reader does not find them. */
const open: readonly (readonly [body: string, contents: string, before?: string])[] = [
  // GCC initialises an array of characters from a string.
  ['char own[16] = {1}; cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);', 'p0[*] in 0..1; 1,0,0,0'],
];

/** Code that may write memory between its filling and the launch, or fills only a part of it. */
const unfilled: readonly (readonly [body: string, before?: string])[] = [
  [`${copied} k<<<1, 4>>>(a);`],
  [`${copied} other<<<1, 4>>>(nullptr);`],
  [`${copied} unknown();`],
  [`${copied} cudaMemcpyAsync(a, table, 4, cudaMemcpyHostToDevice, s);`],
  [`${copied} cudaMemset(a, 0, 4);`],
  [`${copied} cudaMemset(a + 1, 0, 4);`],
  [`int* b = a; ${copied} cudaMemset(b, 1, 8);`],
  [`${copied} cudaGraphLaunch(g, s);`, 'extern cudaGraphExec_t g;'],
  [`if (parameter) ${copied}`],
  [`parameter && cudaMemset(a, 0, 16);`],
  [`while (parameter--) ${copied}`],
  [`cudaMemset(a, 0, 16); for (int i = 0; i < 3; i++) { k<<<1, 4>>>(a); }`],
  [
    `cudaMemset(a, 0, 16); for (int i = 0; i < parameter; i++) { k<<<1, 4>>>(a); } k<<<1, 4>>>(nullptr); if (parameter) cudaMemset(a, 0, 16);`,
  ],
  ['cudaMemset(a, 0, 12);'],
  ['cudaMemset(a + 1, 0, 16);'],
  ['cudaMemset(a, parameter, 16);'],
  ['cudaMemsetAsync(a, 0, 16, s);'],
  ['cudaMemcpy(a, table, 8, cudaMemcpyHostToDevice);'],
  ['cudaMemcpy(a, table, 16, cudaMemcpyDefault);'],
  ['int own[4] = {1, 2, 3, 4}; own[parameter] = 2; cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);'],
  ['int own[4] = {1, 2, 3, 4}; fillIn(own); cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);', 'void fillIn(int* p);'],
  ['cudaMallocManaged(&a, 16); cudaMemset(a, 0, 16); a[0] = 1;'],
  [`step(a); ${copied} again(a);`, 'void step(int* p) {} void again(int* p) { cudaMemcpy(p, p + 2, 8, cudaMemcpyDeviceToDevice); }'],
  [`auto zero = [&] { cudaMemset(a, 0, 16); }; ${copied} zero(); unknown();`],
];

test('memory that the program fills whole before a launch has contents', { skip: withoutNvcc }, async (context) => {
  const withContents = [...known, ...open].map(([body, , before]) => filled(body, before));
  const snippets = [...withContents, ...unfilled.map(([body, before]) => filled(body, before))];
  const found = (await readSnippets(context, snippets)).map(contentsOf);
  known.forEach(([body, expected], at) => assert.equal(found[at], expected, body));
  await context.test('possible writes to memory invalidate its known contents', () => {
    unfilled.forEach(([body], at) => assert.equal(found[withContents.length + at], '', body));
  });
  await context.test('contents that are not found are left open', () => {
    open.forEach(([body], at) => assert.equal(found[known.length + at], '', body));
  });
});

test('a program with threads or unordered streams has no known contents', { skip: withoutNvcc }, async (context) => {
  const read = async (before: string, ...headers: readonly string[]): Promise<string> =>
    contentsOf((await readSnippets(context, [filled(copied, before)], headers))[0]!);
  const found = await Promise.all([
    read('void f(); void go() { std::thread t(f); t.join(); }', 'thread'),
    read('void go(cudaStream_t t) { cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); }'),
  ]);
  assert.deepEqual(found, ['', '']);
});
