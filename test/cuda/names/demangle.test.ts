import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { demangle, objectName, withoutTemplateArguments } from '../../../src/cuda/names/demangle.ts';

/** Symbols that nvcc 13.0 makes, with the names they must get. */
const table: readonly (readonly [symbol: string, full: string])[] = [
  ['_Z6reduceILi256EfEvPKT0_PS0_i', 'reduce<256, float>(float const*, float*, int)'],
  [
    '_Z6reduceILi64EN2ns5inner3BoxILi3EdEEEvPKT0_PS4_i',
    'reduce<64, ns::inner::Box<3, double>>(ns::inner::Box<3, double> const*, ns::inner::Box<3, double>*, int)',
  ],
  ['_Z4valsIL5Color1EL4Mode7ELb1ELj7ELln5ELc97EEvPi', 'vals<(Color)1, (Mode)7, true, 7, -5, (char)97>(int*)'],
  ['_Z4packIJEEvDpT_', 'pack<>()'],
  ['_Z4packIJiPfPKcEEvDpT_', 'pack<int, float*, char const*>(int, float*, char const*)'],
  ['_Z2ttIN2ns5inner3BoxEEvPT_ILi2EiE', 'tt<ns::inner::Box>(ns::inner::Box<2, int>*)'],
  ['_Z2fpIXadL_Z3dbliEEEvPi', 'fp<&(dbl(int))>(int*)'],
  [
    '_Z6funptrPFvifERA4_iPA3_S1_PKPVKi6float26__halfM3VeciMSB_KFfvE',
    'funptr(void (*)(int, float), int (&) [4], int (*) [3][4], int const volatile* const*, float2, __half, int Vec::*, float (Vec::*)() const)',
  ],
  [
    '_Z4manyPKfS0_PfS1_PKS0_PN2ns5inner3BoxILi1EiEES8_hm',
    'many(float const*, float const*, float*, float*, float const* const*, ns::inner::Box<1, int>*, ns::inner::Box<1, int>*, unsigned char, unsigned long)',
  ],
  [
    '_Z5nullpDnDsDiwahstnoPeb',
    'nullp(decltype(nullptr), char16_t, char32_t, wchar_t, signed char, unsigned char, short, unsigned short, __int128, unsigned __int128, long double*, bool)',
  ],
  [
    '_ZN2ns6innerkEPNS_6HolderIiE5InnerERS2_RKNS0_IfEE',
    'ns::innerk(ns::Holder<int>::Inner*, ns::Holder<int>::Inner&, ns::Holder<float> const&)',
  ],
  [
    '_ZN39_GLOBAL__N__454c6acf_8_names_cu__Z3dbli5anon2ENS_6HiddenEPS0_',
    '(anonymous namespace)::anon2((anonymous namespace)::Hidden, (anonymous namespace)::Hidden*)',
  ],
  ['_ZN36_INTERNAL_823537d4_6_loc_cu_e3d5275c9atomicAddEPff', '(anonymous namespace)::atomicAdd(float*, float)'],
  ['_ZN37_INTERNAL_454c6acf_8_names_cu__Z3dbli39_GLOBAL__N__454c6acf_8_names_cu__Z3dbli4adevE', '(anonymous namespace)::adev'],
  ['_Z5applyIZ4hostPiEUliE_EvT_S0_', 'apply<host(int*)::{lambda(int)#1}>(host(int*)::{lambda(int)#1}, int*)'],
  ['_ZZ4hostPiENKUliE_clEi', 'host(int*)::{lambda(int)#1}::operator()(int) const'],
  ['_ZN3VecC1Ef', 'Vec::Vec(float)'],
  ['_ZN2ns5inner3BoxILi3EiEC2Ev', 'ns::inner::Box<3, int>::Box()'],
  ['_ZN3VecD1Ev', 'Vec::~Vec()'],
  ['_ZNK3VeccvfEv', 'Vec::operator float() const'],
  ['_ZNK3VecixEi', 'Vec::operator[](int) const'],
  ['_ZNK3VecplERKS_', 'Vec::operator+(Vec const&) const'],
  ['_Z2dtIiEDTplcvT__ELi1EES0_', 'dt<int>(int)'],
  ['_Z6useArrILi2EEi3ArrIXplT_Li1EEES0_IXmlT_Li2EEE', 'useArr<2>(Arr<(2)+(1)>, Arr<(2)*(2)>)'],
  ['_ZN2ns5inner3BoxILi3EiE3setIfEEvT_', 'ns::inner::Box<3, int>::set<float>(float)'],
  ['_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_', 'std::move<int&>(int&)'],
  ['_Z1fIRiEvOT_', 'f<int&>(int&)'],
  ['_ZNSt6vectorIiSaIiEE9push_backEOi', 'std::vector<int, std::allocator<int>>::push_back(int&&)'],
  ['_ZTV4Base', 'vtable for Base'],
  ['_Z3redPKfPfi', 'red(float const*, float*, int)'],
];

test('symbols mangled by nvcc are demangled', () => {
  for (const [symbol, full] of table) assert.equal(demangle(symbol)?.full, full, symbol);
});

test('the qualified name of a symbol omits its parameters', () => {
  const name = demangle('_ZN2ns6reduceILi256EfEEvPT0_i');
  assert.deepEqual(name, {
    qualified: 'ns::reduce<256, float>',
    full: 'ns::reduce<256, float>(float*, int)',
    parameters: ['float*', 'int'],
  });
  assert.deepEqual(demangle('plain'), { qualified: 'plain', full: 'plain', parameters: [] });
});

test('the name of a local entity includes its enclosing function', () => {
  assert.deepEqual(demangle('_ZZ3redPKfPfiE1s')?.local, { function: 'red(float const*, float*, int)', name: 's' });
  assert.equal(demangle('_ZZ6useallPiE3dup_0')?.local?.name, 'dup');
  assert.equal(demangle('_ZZZ6useallPiENKUliE_clEiE1q')?.local?.name, 'q');
  assert.equal(objectName('_ZZ6reduceILi64EN2ns5inner3BoxILi3EdEEEvPKT0_PS4_iE1s'), 's');
  assert.equal(objectName('_ZZN2ns39_GLOBAL__N__454c6acf_8_names_cu__Z3dbli5anontIsEEvPT_E1q'), 'q');
  assert.equal(objectName('_ZN2ns3manE'), 'ns::man');
  assert.equal(objectName('_ZN37_INTERNAL_454c6acf_8_names_cu__Z3dbli39_GLOBAL__N__454c6acf_8_names_cu__Z3dbli4adevE'), 'adev');
  assert.equal(objectName('dyn'), 'dyn');
  assert.equal(objectName('$weird$'), '$weird$');
});

test('template arguments are removed from a name', () => {
  assert.equal(withoutTemplateArguments('ns::Box<3, ns::T<int>>::run<(a)>'), 'ns::Box::run');
  assert.equal(withoutTemplateArguments('ns::k'), 'ns::k');
});

test('an invalid symbol returns null and throws no exception', () => {
  for (const symbol of [
    '_Z',
    '_Z3ab',
    '_ZN3abc',
    '_Z1fS_',
    '_Z1fT_',
    '_Z1fPf_param_0',
    '_ZZ1fvE',
    '',
    '1x',
    'a b',
    `_Z1f${'P'.repeat(100_000)}f`,
    `_Z1f${'P'.repeat(5000)}f`,
  ]) {
    assert.equal(demangle(symbol), null, symbol.slice(0, 40));
  }
  // Each step doubles the text of the one before.
  let doubling = '_Z1fI1aE';
  for (let i = 0; i < 40; i++) doubling += `1bIS${i === 0 ? '' : (i - 1).toString(36).toUpperCase()}_S_E`;
  demangle(doubling);

  const random = seededRandom(11);
  const alphabet = '_ZNSTIELPKRFAMDXJ0123456789abcdefijlmnostuvwxyz';
  for (let round = 0; round < 5000; round++) {
    const [symbol] = random.pick(table);
    const at = random.between(2, symbol.length - 1);
    const damaged = symbol.slice(0, at) + alphabet[random.below(alphabet.length)] + symbol.slice(at + random.below(2));
    demangle(damaged);
  }
});

/** `c++filt` with our spelling: no return type, no suffix of integers, no space between closing angles. */
function sameAsReference(own: string, reference: string): boolean {
  const spelled = reference
    .replace(/> (?=>)/g, '>')
    .replace(/> (?=>)/g, '>')
    .replace(/_INTERNAL_\w+/g, '(anonymous namespace)')
    .replaceAll('(anonymous namespace)::(anonymous namespace)', '(anonymous namespace)')
    .replace(/(?<![\w#])(\d+)(?:ull|ul|ll|u|l)\b/g, '$1');
  return spelled === own || spelled.endsWith(` ${own}`);
}

test('ABI tags do not belong to a name', () => {
  const name = demangle('_ZN8__main__5saxpyB2v1B3abcEf5ArrayIfLi1E1AE');
  assert.deepEqual([name?.qualified, name?.full], ['__main__::saxpy', '__main__::saxpy(float, Array<float, 1, A>)']);
});

test('names agree with c++filt', (context) => {
  const result = spawnSync('c++filt', { input: table.map(([symbol]) => `${symbol}\n`).join(''), encoding: 'utf8' });
  if (result.error) return context.skip('c++filt is not installed');
  const references = result.stdout.trimEnd().split('\n');
  for (const [index, [symbol]] of table.entries()) {
    const reference = references[index] ?? '';
    const own = demangle(symbol)?.full ?? '';
    assert.ok(sameAsReference(own, reference), `${symbol}\n  own       ${own}\n  reference ${reference}`);
  }
});
