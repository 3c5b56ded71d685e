import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definesFunction, containsName, mayCall, namesLaunchedIn } from '../../../src/cuda/launches/launch-scan.ts';

test('a call of a function is found in any context', () => {
  for (const text of [
    'void f() { run(1); }',
    'int f() { return run (1); }',
    'void f() { if (x) g(); else run\n(1); }',
    'void f() {\n#ifdef FAST\nrun(1);\n#endif\n}',
    'void f() { run<256>(1); }',
    'void f() { lib::run(1); }',
    'void f() { x = y * run(1); }',
    'void f() { /* first */ run /* then */ (1); }',
    "void f() { if (c == '\"') run(1); }",
    '#define START \\\n  run\nvoid f() { START(1); }',
    'const char *s = R"(")"; void f() { run(1); }',
    'int run(int); int f() { return run(run(1)); }',
  ])
    assert.ok(mayCall(text, 'run'), text);
});

test('comments, strings, declarations, methods and longer names are not calls', () => {
  for (const text of [
    '// run(1)\n/* run(2); */',
    'puts("run(1)");',
    'void run(int n);',
    'extern "C" void run(int n) { }',
    'void f(Task t, Task *p) { t.run(1); p->run(2); }',
    'void f() { rerun(1); run_all(1); }',
    'int run = 1;',
  ])
    assert.equal(mayCall(text, 'run'), false, text);
});

test('a definition is distinguished from a declaration and a call', () => {
  assert.ok(definesFunction('void run(int n)\n{\n}', 'run'));
  assert.equal(definesFunction('void run(int n); void f() { run(1); }', 'run'), false);
  assert.equal(definesFunction('// void run(int n) { }', 'run'), false);
});

test('a name only in comments is ignored; one in a string counts', () => {
  for (const text of [
    'copy<<<1, 1>>>();',
    'load("copy");',
    'load("//"); copy();',
    'char c = \'"\'; copy(); // "',
    '/* */ copy /* */',
    'R"(/*)"; copy(); /* */',
  ])
    assert.ok(containsName(text, 'copy'), text);
  for (const text of ['// copy\n', '/* the above\n copy */ run();', 'run(); /* copy', 'copyAll();', 'load("/*"); // copy'])
    assert.equal(containsName(text, 'copy'), false, text);
});

test('scanning of words, spaces and brackets takes linear time', () => {
  const long = 1_500_000;
  for (const part of ['x', ' ', '(', '<', 'a<', 'a ', 'a('].map((one) => one.repeat(long / one.length)))
    assert.deepEqual([...namesLaunchedIn(`// ${part}\nkernel<<<1, 1>>>();`)].includes('kernel'), true);
  assert.equal(containsName(`${'/* '.repeat(long / 3)} copy`, 'copy'), false);
});

test('a launch may have blanks in its brackets', () => {
  assert.deepEqual([...namesLaunchedIn('blur<3> << <grid, 256 >> > (a); sharpen << <1, 2>> >(b);')], ['blur', 'sharpen']);
});
