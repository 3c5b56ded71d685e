import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withWholeChevrons } from '../../../src/cuda/syntax/spaced-chevrons.ts';

test('brackets of launches are joined, and all other tokens keep their position', () => {
  const written = [
    ['k << <(n + 255) / 256, 256 >> > (a, n);', 'k <<< (n + 255) / 256, 256 >>>  (a, n);'],
    ['k<T, 3> << <grid(n, 2), block >> >(a);', 'k<T, 3> <<< grid(n, 2), block >>> (a);'],
    ['k << <(n >> 4), f(a > > b) >>>(a);', 'k <<< (n >> 4), f(a > > b) >>>(a);'],
    ['a << <1, 2>> >(x); b<< <3, 4 > >>(y);', 'a <<< 1, 2>>> (x); b<<< 3, 4 >>> (y);'],
    ['k<<\n <g, b>>\n  >(a);', 'k<<<\n g, b>>>\n  (a);'],
  ];
  for (const [text, whole] of written) {
    assert.equal(withWholeChevrons(text!), whole);
    assert.equal(whole!.length, text!.length);
    assert.equal(withWholeChevrons(whole!), whole);
  }
});

test('angle brackets other than those of launches are unchanged', () => {
  for (const text of [
    'std::vector<std::vector<std::pair<int, int> > > all;',
    'k<<<grid, block>>>(a); x = y << 2; z = a < b << c;',
    'std::cout << "a" << (b < c) << std::endl;',
    'if (a << 2 <= b) return;',
    'f<g<h<int> > >(x << 1); std::map<int, std::set<int> > m;',
  ])
    assert.equal(withWholeChevrons(text), text);
});
