/** Values of build languages: generator expressions, conditions and commands of CMake, functions of make, scripts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergedItems, runBranches } from '../../../../src/app/setup/builds/branches.ts';
import { unknownText } from '../../../../src/app/setup/builds/build-reading.ts';
import { filenameCommand, listCommand, parseArgumentsCommand, stringCommand } from '../../../../src/app/setup/builds/cmake-commands.ts';
import { conditionTruth, withoutGenerators } from '../../../../src/app/setup/builds/cmake-expression.ts';
import { parseCMake } from '../../../../src/app/setup/builds/cmake-syntax.ts';
import { expandMake } from '../../../../src/app/setup/builds/make-functions.ts';
import { makeOperands } from '../../../../src/app/setup/builds/make-syntax.ts';
import { parseScript, scriptLines } from '../../../../src/app/setup/builds/script-syntax.ts';
import { evaluateScript, mergedValue, ScriptReference, type ScriptValue } from '../../../../src/app/setup/builds/script-values.ts';

const unknown = unknownText;

test('generator expressions', () => {
  const rows: Readonly<Record<string, string>> = {
    'a$<1:b>c': 'abc',
    '$<0:b>': '',
    '$<COMPILE_LANGUAGE:CXX,CUDA>': '1',
    '$<COMPILE_LANGUAGE:CXX>': '0',
    '$<COMPILE_LANG_AND_ID:CUDA,Clang,NVIDIA>': '1',
    '$<COMPILE_LANG_AND_ID:CUDA,Clang>': '0',
    '$<COMPILE_LANG_AND_ID:CXX,GNU>': '0',
    '$<CXX_COMPILER_ID:GNU,Clang>': '1',
    '$<CUDA_COMPILER_ID:Clang>': '0',
    '$<CXX_COMPILER_ID>': 'GNU',
    '$<PLATFORM_ID:Linux>': '1',
    '$<PLATFORM_ID:Windows>': '0',
    '$<PLATFORM_ID>': 'Linux',
    '$<CONFIG:Debug,release>': '1',
    '$<CONFIG:Debug>': '0',
    '$<BOOL:>': '0',
    '$<BOOL:x>': '1',
    '$<BOOL:OFF>': '0',
    '$<NOT:0>': '1',
    '$<NOT:1>': '0',
    '$<AND:1,1>': '1',
    '$<AND:1,0>': '0',
    '$<OR:0,1>': '1',
    '$<OR:0,0>': '0',
    '$<IF:1,a,b>': 'a',
    '$<IF:0,a,b>': 'b',
    '$<STREQUAL:a,a>': '1',
    '$<STREQUAL:a,b>': '0',
    '$<LOWER_CASE:Ab>': 'ab',
    '$<UPPER_CASE:Ab>': 'AB',
    'a$<SEMICOLON>b$<COMMA>': 'a;b,',
    '$<VERSION_LESS:1.9,1.10>': '1',
    '$<EQUAL:2,2>': '1',
    '$<VERSION_GREATER_EQUAL:12.0,12>': '1',
    '$<TARGET_PROPERTY:a,b>': unknown,
    '$<$<TARGET_EXISTS:a>:b>': unknown,
    '$<NOT:$<TARGET_EXISTS:a>>': unknown,
    '$<AND:0,$<TARGET_EXISTS:a>>': '0',
    '$<OR:1,$<TARGET_EXISTS:a>>': '1',
    '$<LINK_ONLY:a>': '',
    '$<$<BOOL:1>:$<1:x>>': 'x',
    'open $<1:x': 'open x',
  };
  for (const [text, value] of Object.entries(rows)) assert.equal(withoutGenerators(text, 'Release'), value, text);
});

test('conditions of CMake', () => {
  const variables: Readonly<Record<string, string>> = {
    ON1: 'ON',
    OFF1: 'OFF',
    EMPTY: '',
    TEXT: 'some',
    V: '3.18',
    LIST: 'a;b',
    U: unknown,
    NUMBER: '12',
    MISS: 'X-NOTFOUND',
  };
  let matches: readonly string[] = [];
  const truth = (text: string): boolean | undefined => {
    const [node] = parseCMake(`if(${text})\nendif()`);
    const words = node?.kind === 'if' ? (node.branches[0]?.condition?.words ?? []) : [];
    const known = words.map((word) => (word.text === '@U' ? { ...word, text: unknown } : word));
    return conditionTruth(known, {
      variable: (name) => variables[name],
      setMatches: (groups) => (matches = groups),
      isTarget: (name) => name === 'target',
      isCommand: (name) => name === 'command',
      exists: (path) => (path.startsWith('/') ? undefined : path === 'here'),
      isFolder: (path) => path === 'folder',
    });
  };
  const rows: Readonly<Record<string, boolean | undefined>> = {
    ON: true,
    '1': true,
    '0': false,
    NO: false,
    ON1: true,
    OFF1: false,
    EMPTY: false,
    TEXT: true,
    NOTHING: false,
    '"TEXT"': false,
    U: undefined,
    '@U': undefined,
    MISS: false,
    'NOT OFF1': true,
    'NOT U': undefined,
    'ON1 AND OFF1': false,
    'ON1 AND TEXT': true,
    'U AND OFF1': false,
    'U AND ON1': undefined,
    'U OR ON1': true,
    'OFF1 OR EMPTY': false,
    'OFF1 OR U': undefined,
    'OFF1 AND ON1 OR ON1': true,
    'NOT (OFF1 OR EMPTY)': true,
    '(ON1) AND (NOT OFF1)': true,
    'TEXT STREQUAL "some"': true,
    'TEXT STREQUAL other': false,
    'U STREQUAL a': undefined,
    '"TEXT" STREQUAL "TEXT"': true,
    'a STRLESS b': true,
    'b STRGREATER c': false,
    'NUMBER EQUAL 12': true,
    'NUMBER LESS 12': false,
    'NUMBER LESS_EQUAL 12': true,
    'NUMBER GREATER 11': true,
    'NUMBER GREATER_EQUAL 13': false,
    'TEXT LESS 3': false,
    'U LESS 3': undefined,
    'V VERSION_LESS 3.20': true,
    'V VERSION_GREATER_EQUAL 3.18.0': true,
    'V VERSION_GREATER 3.18': false,
    'V VERSION_EQUAL 3.18': true,
    'TEXT MATCHES "^so(.*)$"': true,
    'TEXT MATCHES x': false,
    'U MATCHES x': undefined,
    'TEXT MATCHES "("': undefined,
    'a IN_LIST LIST': true,
    'c IN_LIST LIST': false,
    'c IN_LIST U': undefined,
    'DEFINED TEXT': true,
    'DEFINED EMPTY': true,
    'DEFINED NOTHING': false,
    'DEFINED U': undefined,
    'DEFINED CACHE{TEXT}': true,
    'DEFINED ENV{HOME}': false,
    'TARGET target': true,
    'TARGET CUDA::cudart': true,
    'TARGET x::y': undefined,
    'TARGET other': false,
    'COMMAND command': true,
    'COMMAND other': undefined,
    'EXISTS here': true,
    'EXISTS there': false,
    'EXISTS /x': undefined,
    'IS_DIRECTORY folder': true,
    'IS_DIRECTORY here': false,
    'IS_ABSOLUTE /x': true,
    'IS_ABSOLUTE x': false,
    'POLICY CMP0048': true,
    'TEST x': undefined,
    'ON1 TEXT': undefined,
    '': undefined,
  };
  for (const [text, value] of Object.entries(rows)) assert.equal(truth(text), value, text);
  truth('TEXT MATCHES "^so(.*)$"');
  assert.deepEqual(matches, ['some', 'me']);
});

test('commands of CMake on lists, texts and names', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['list APPEND L x y', 'b;a;b;x;y'],
    ['list PREPEND L x', 'x;b;a;b'],
    ['list REMOVE_ITEM L b', 'a'],
    ['list REMOVE_DUPLICATES L', 'b;a'],
    ['list REVERSE L', 'b;a;b'],
    ['list SORT L', 'a;b;b'],
    ['list SORT L ORDER DESCENDING', 'b;b;a'],
    ['list FILTER L INCLUDE REGEX a', 'a'],
    ['list FILTER L EXCLUDE REGEX a', 'b;b'],
    ['list FILTER L EXCLUDE REGEX (', unknown],
    ['list TRANSFORM L PREPEND p', 'pb;pa;pb'],
    ['list TRANSFORM L APPEND s', 'bs;as;bs'],
    ['list TRANSFORM L TOUPPER', unknown],
    ['list LENGTH L R', '3'],
    ['list GET L 0 -2 R', 'b;a'],
    ['list FIND L a R', '1'],
    ['list JOIN L - R', 'b-a-b'],
    ['list SUBLIST L 0 1 R', unknown],
    ['list LENGTH O R', unknown],
    ['list GET O 0 R', unknown],
    ['string TOUPPER ab R', 'AB'],
    ['string TOLOWER AB R', 'ab'],
    ['string REPLACE a x R aba', 'xbx'],
    ['string APPEND T x y', 'textxy'],
    ['string CONCAT R a b', 'ab'],
    ['string JOIN - R a b', 'a-b'],
    ['string REGEX MATCH a R b', unknown],
  ];
  for (const [line, expected] of rows) {
    const values = new Map([
      ['L', 'b;a;b'],
      ['T', 'text'],
      ['O', `a;${unknown}`],
    ]);
    const variables = { get: (name: string) => values.get(name), set: (name: string, value: string) => void values.set(name, value) };
    const [command, ...words] = line.split(' ');
    (command === 'list' ? listCommand : stringCommand)(words, variables);
    assert.equal(values.get('R') ?? (command === 'list' ? values.get('L') : values.get('T')), expected, line);
  }
  const set = new Map<string, string>();
  const variables = { get: (name: string) => set.get(name), set: (name: string, value: string) => void set.set(name, value) };
  for (const [mode, expected] of Object.entries({
    DIRECTORY: 'a/b',
    NAME: 'c.d.e',
    NAME_WE: 'c',
    EXT: '.d.e',
    PROGRAM: unknown,
  })) {
    filenameCommand(['R', 'a/b/c.d.e', mode], variables, '.');
    assert.equal(set.get('R'), expected, mode);
  }
  filenameCommand(['R', '/usr/x', 'ABSOLUTE'], variables, '.');
  assert.equal(set.get('R'), '/usr/x');
  parseArgumentsCommand(['P', 'F;G', 'ONE', 'MANY', 'x', 'ONE', '1', 'y', 'MANY', 'a', 'b', 'G'], variables);
  assert.deepEqual(
    ['F', 'G', 'ONE', 'MANY', 'UNPARSED_ARGUMENTS'].map((name) => set.get(`P_${name}`)),
    ['FALSE', 'TRUE', '1', 'a;b', 'x;y'],
  );
});

test('references and functions of make', () => {
  const texts: Readonly<Record<string, string>> = { L: 'a.c b.c', E: '', U: unknown, D: '$(1)-$(2)', LOOP: '$(LOOP)' };
  const rows: Readonly<Record<string, string>> = {
    $$x: '$x',
    '$(L)': 'a.c b.c',
    '${L}': 'a.c b.c',
    '$(none)': '',
    '$(L:.c=.o)': 'a.o b.o',
    '$(L:%.c=x/%)': 'x/a x/b',
    '$(subst a,b,banana)': 'bbnbnb',
    '$(patsubst %.c,%.o,$(L))': 'a.o b.o',
    '$(strip  a  b )': 'a b',
    '$(findstring a,abc)': 'a',
    '$(findstring x,abc)': '',
    '$(findstring x,$(U))': unknown,
    '$(filter a%,$(L))': 'a.c',
    '$(filter-out a%,$(L))': 'b.c',
    '$(filter x,$(U))': unknown,
    '$(sort b a b)': 'a b',
    '$(word 2,$(L))': 'b.c',
    '$(words $(L))': '2',
    '$(words $(U))': unknown,
    '$(wordlist 2,3,a b c d)': 'b c',
    '$(firstword $(L))': 'a.c',
    '$(lastword $(L))': 'b.c',
    '$(dir x/y)': 'x/',
    '$(notdir x/y)': 'y',
    '$(suffix x.c)': '.c',
    '$(basename x.c)': 'x',
    '$(addsuffix .o,a b)': 'a.o b.o',
    '$(addprefix -I,a b)': '-Ia -Ib',
    '$(join a b,1 2)': 'a1 b2',
    '$(if $(L),y,n)': 'y',
    '$(if $(E),y,n)': 'n',
    '$(if $(U),y,n)': unknown,
    '$(or $(E),x)': 'x',
    '$(and $(L),x)': 'x',
    '$(and $(E),x)': '',
    '$(foreach i,1 2,<$(i)>)': '<1> <2>',
    '$(call D,x,y)': 'x-y',
    '$(value D)': '$(1)-$(2)',
    '$(info x)': '',
    '$(shell ls)': unknown,
    '$(wildcard *.h)': 'w.h',
    '$(LOOP)': unknown,
    '$(if $(L),$(subst a,b,a),n)': 'b',
  };
  for (const [text, value] of Object.entries(rows)) {
    const result = expandMake(text, {
      folder: '.',
      wildcard: () => ['w.h'],
      variable: (name) => (texts[name] === undefined ? undefined : { text: texts[name], isExpanded: false }),
    });
    assert.equal(result, value, text);
  }
  assert.deepEqual(makeOperands('($(call f,a), b)'), ['$(call f,a)', 'b']);
  assert.deepEqual(makeOperands('"a" \'b c\''), ['a', 'b c']);
  assert.equal(makeOperands('a b'), undefined);
});

test('expressions of scripts', () => {
  const rows: readonly (readonly [string, ScriptValue])[] = [
    ['"a" + \'b\'', 'ab'],
    ['"a" "b"', 'ab'],
    ["r'\\n'", '\\n'],
    ['f"{n}-{t}"', '3-x'],
    ['["a", n] + list', ['a', 3, 'y']],
    ['n == 3', true],
    ['n != 3', false],
    ['n < 4', true],
    ['n > 3', false],
    ['n >= 3', true],
    ['n <= 2', false],
    ['n > 2 and n < 9', true],
    ['n > 4 or t == "x"', true],
    ['not n', false],
    ['other', new ScriptReference('other')],
    ['other == 1', undefined],
    ['None == None', true],
    ['None is not n', true],
    ['list is not None', true],
    ['"y" in list', true],
    ['"z" in list', false],
    ['"z" not in list', true],
    ['"k" in table', true],
    ['"x" in "axb"', true],
    ['"q" in "axb"', false],
    ['1 if n else 2', 1],
    ['1 if other else 1', 1],
    ['1 if other else 2', undefined],
    ['[x + "!" for x in list]', ['y!']],
    ['[x for x in ["a", "b"] if x != "a"]', ['b']],
    ['table["k"]', 'v'],
    ['list[0]', 'y'],
    ['list[-1]', 'y'],
    ['table.get("k")', 'v'],
    ['table.get("z", "d")', 'd'],
    ['table.get("z")', null],
    ['"A".lower()', 'a'],
    ['"a".upper()', 'A'],
    ['" a ".strip()', 'a'],
    ['"ab".startswith("a")', true],
    ['"ab".endswith("a")', false],
    ['"a b".split()', ['a', 'b']],
    ['"a,b".split(",")', ['a', 'b']],
    ['"ab".replace("a", "c")', 'cb'],
    ['"p" / "q"', 'p/q'],
    ['other("x")', undefined],
    ['"x" and other', new ScriptReference('other')],
    ['"" and other', ''],
    ['"x" or other', 'x'],
    ['False or True', true],
    ['(1, 2)', [1, 2]],
    ['(1)', 1],
    ['{"a": 1}["a"]', 1],
    ['lambda x: x', undefined],
    ['-1', -1],
    ['list[1:]', undefined],
    ['not other', undefined],
    ['{1, 2}', [1, 2]],
  ];
  for (const [text, expected] of rows) {
    const variables = new Map<string, ScriptValue>([
      ['n', 3],
      ['t', 'x'],
      ['list', ['y']],
      ['table', new Map([['k', 'v']])],
    ]);
    const context = {
      language: 'python',
      variables,
      call: () => undefined,
      reference: (name: string) => new ScriptReference(name),
    } as const;
    assert.deepEqual(evaluateScript(parseScript(text, 'python'), context), expected, text);
  }
  assert.deepEqual(mergedValue(['a', 'b'], ['a', 'c']), ['a', undefined]);
  assert.deepEqual(mergedValue(['a'], ['a']), ['a']);
  assert.deepEqual(mergedValue(new Map([['k', ['a']]]), new Map([['k', ['a', 'b']]])), new Map([['k', ['a', undefined]]]));
  assert.equal(mergedValue('a', 'b'), undefined);
});

test('an undecided condition leaves what its branches have in common', () => {
  const after = (...truths: readonly (boolean | undefined)[]): string => {
    const scope = { variables: new Map([['list', ['a']]]) };
    const steps: string[] = [];
    const ending = runBranches([...truths.keys()], scope, {
      truth: (at) => truths[at],
      report: (at, isFalse) => void steps.push(`${isFalse ? 'false' : 'perhaps'} ${at}`),
      run: (at, isOpen) => {
        steps.push(`${isOpen ? 'try' : 'run'} ${at}`);
        scope.variables.get('list')!.push(String(at));
        return at;
      },
      copy: (value) => [...value],
      merge: (values) => values.map((value) => value ?? []).reduce((one, other) => mergedItems(one, other, '?')),
    });
    return `${steps.join(', ')}: ${scope.variables.get('list')!.join(' ')}; ${ending}`;
  };
  assert.equal(after(false, true, true), 'false 0, run 1, perhaps 2: a 1; 1');
  assert.equal(after(false), 'false 0: a; undefined');
  assert.equal(after(undefined), 'perhaps 0, try 0: a ?; undefined');
  assert.equal(after(undefined, true, undefined), 'perhaps 0, try 0, perhaps 1, try 1, perhaps 2: a ?; undefined');
});

test('lines of scripts are joined inside of parentheses and texts', () => {
  const text = 'a = [1,  # one\n  2]\n# nothing\n\nif x:\n    b = """\nq: (\n"""\nc = "(" \\\n  + "x"\n';
  const lines = scriptLines(text).map(({ indent, line, text: content }) => [indent, line, content.split('\n')[0]]);
  assert.deepEqual(lines, [
    [0, 1, 'a = [1,  # one'],
    [0, 5, 'if x:'],
    [4, 6, 'b = """'],
    [0, 9, 'c = "(" \\'],
  ]);
});
