/** The list of instructions in src/isa/INSTRUCTIONS.md, from the rows of the table. */
import type { Row, Treatment } from '../../src/isa/model/row.ts';
import { specialRegisters } from '../../src/ir/translate.ts';
import { tableRows } from '../../src/isa/table.ts';

const chapters: Readonly<Record<number, string>> = {
  1: 'Integer arithmetic',
  2: 'Extended-precision integer arithmetic',
  3: 'Floating point',
  4: 'Half-precision floating point',
  5: 'Mixed-precision floating point',
  6: 'Comparison and selection',
  7: 'Half-precision comparison',
  8: 'Logic and shift',
  9: 'Data movement and conversion',
  10: 'Textures',
  11: 'Surfaces',
  12: 'Control flow',
  13: 'Synchronisation and communication',
  14: 'Matrices of a warp',
  15: 'Matrices of a warp group',
  16: 'Tensor memory (tcgen05)',
  17: 'Stack',
  18: 'Video',
  19: 'Miscellaneous',
};

const treatments: Readonly<Record<Treatment, string>> = {
  exact: 'values and effect as the ISA defines them',
  approximate: 'the ISA bounds the error; computed is the rounded value of the exact function',
  havoc: 'the effect is known, the values are not: allowed in proofs',
  opaque: 'the effect is not known: a kernel that reaches one is never proved',
};

function compareSections(a: Row, b: Row): number {
  const [x, y] = [a.section.split('.').map(Number), b.section.split('.').map(Number)];
  for (let at = 0; at < Math.max(x.length, y.length); at++) {
    const difference = (x[at] ?? 0) - (y[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function line({ opcode, section, treatment, forms, remark }: Row): string {
  const code = forms
    .split('; ')
    .map((form) => `\`${form.replaceAll('|', '\\|')}\``)
    .join('<br>');
  const cells = [opcode, section, treatment, code, (remark ?? '').replaceAll('|', '\\|')];
  return `| ${cells.join(' | ')} |`;
}

/** The text of the document. */
export function instructionDocument(): string {
  const count = (treatment: Treatment): number => tableRows.filter((row) => row.treatment === treatment).length;
  const lines = [
    '# Instructions',
    '',
    'Made from the rows of `table.ts` by `test/isa/regenerate.ts`; sections are those of the PTX ISA 9.0. An',
    'instruction or form that is not listed is opaque.',
    '',
    '| treatment | rows | meaning |',
    '|---|---|---|',
    ...Object.entries(treatments).map(([name, text]) => `| ${name} | ${count(name as Treatment)} | ${text} |`),
    '',
    'Proofs use the effects of `cp.async`, of mbarriers at which all threads of the block arrive, of matrix loads and',
    'stores, and of `wgmma`; a surface write is a store to an unknown element. A kernel with another mbarrier, a bulk copy',
    'or an instruction of clusters is not proved.',
  ];
  for (const [chapter, title] of Object.entries(chapters)) {
    const rows = tableRows.filter((row) => row.section.split('.')[2] === chapter).sort(compareSections);
    lines.push('', `## 9.7.${chapter} ${title}`, '');
    lines.push('| opcode | section | treatment | forms | remarks |', '|---|---|---|---|---|', ...rows.map(line));
  }
  const known = [...specialRegisters].map((name) => `\`%${name}\``).join(', ');
  lines.push('', '## 10 Special registers', '', `Exact: ${known}. Every other one is an unknown value.`);
  return `${lines.join('\n')}\n`;
}
