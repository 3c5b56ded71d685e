/**
 * The script of the page: it filters kernels and findings, steps through interleavings and handles keys. It reads
 * attributes and sets classes, and never turns text into markup. Without it, the page shows everything.
 */
export const pageScript = `
(() => {
  'use strict';
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  document.documentElement.classList.add('js');

  const search = one('#search');
  const kind = one('#kind');
  const counted = one('#counted');
  const entries = all('[data-text]');
  function filter() {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
    const wanted = kind.value;
    for (const entry of entries) {
      const isMeant =
        (wanted === '' || entry.dataset.kinds.split(' ').includes(wanted)) &&
        words.every((word) => entry.dataset.text.includes(word));
      entry.hidden = !isMeant;
    }
    for (const group of all('details.group')) {
      const shown = all('[data-text]', group).some((entry) => !entry.hidden);
      group.hidden = !shown;
      if (shown && (words.length > 0 || wanted === 'proved')) group.open = true;
    }
    const number = (selector) => {
      const list = all(selector);
      return list.filter((entry) => !entry.hidden).length + ' of ' + list.length;
    };
    counted.textContent = number('details.kernel') + ' kernels, ' + number('.card') + ' findings';
  }
  if (search) {
    search.addEventListener('input', filter);
    kind.addEventListener('change', filter);
    filter();
  }

  for (const stepper of all('.stepper')) {
    const moves = all('.move', stepper);
    const cells = all('[data-cell]', stepper);
    const lines = all('[data-line]', stepper.closest('.frame'));
    const [back, next] = all('button', stepper);
    const position = one('output', stepper);
    if (moves.length === 0) continue;
    let at = moves.length;
    const show = (step) => {
      at = Math.max(1, Math.min(moves.length, step));
      const values = new Map();
      const places = new Map();
      moves.forEach((move, index) => {
        move.classList.toggle('now', index === at - 1);
        move.classList.toggle('later', index >= at);
        if (index >= at) return;
        if (move.dataset.of !== undefined) values.set(move.dataset.of, move.dataset.value);
        places.set(move.dataset.thread, move.dataset.at);
      });
      for (const cell of cells) cell.textContent = values.get(cell.dataset.cell) ?? '\\u2013';
      for (const line of lines)
        for (const thread of ['0', '1'])
          line.classList.toggle('on' + thread, places.get(thread) === line.dataset.line);
      position.textContent = 'step ' + at + ' of ' + moves.length;
      back.disabled = at === 1;
      next.disabled = at === moves.length;
    };
    back.addEventListener('click', () => show(at - 1));
    next.addEventListener('click', () => show(at + 1));
    stepper.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -moves.length, End: moves.length }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      show(at + by);
    });
    show(1);
  }

  const open = () => {
    const target = location.hash === '' ? null : document.getElementById(location.hash.slice(1));
    for (let up = target; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', open);
  open();

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === 'Escape' && event.target === search) {
      search.value = '';
      filter();
      search.blur();
    } else if (event.key === '/' && !isTyping && search) {
      event.preventDefault();
      search.focus();
    } else if ((event.key === 'n' || event.key === 'p') && !isTyping) {
      const cards = all('.card').filter((card) => !card.hidden);
      const now = cards.findIndex((card) => card.contains(document.activeElement));
      const to = event.key === 'n' ? Math.min(cards.length - 1, now + 1) : Math.max(0, now - 1);
      if (cards[to]) cards[to].focus();
    }
  });
})();
`;
