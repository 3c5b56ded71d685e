import type { Expression, Factor } from './expression.ts';

/** Growth of an expression with a name: its degree, and that of the logarithm. */
export interface Growth {
  readonly degree: number;
  readonly logarithm: number;
}

/** Growth in one name if the others are constant. */
export function growthIn(expression: Expression, name: string): Growth {
  let most: Growth = { degree: 0, logarithm: 0 };
  for (const { factors } of expression.addends.values()) {
    const growth = factors.map((factor) => growthOfFactor(factor, name)).reduce(sumOfGrowths, { degree: 0, logarithm: 0 });
    if (compareGrowth(growth, most) > 0) most = growth;
  }
  return most;
}

const sumOfGrowths = (a: Growth, b: Growth): Growth => ({
  degree: a.degree + b.degree,
  logarithm: a.logarithm + b.logarithm,
});

/** Negative, zero or positive. */
export function compareGrowth(a: Growth, b: Growth): number {
  return a.degree - b.degree || a.logarithm - b.logarithm;
}

function growthOfFactor(factor: Factor, name: string): Growth {
  switch (factor.kind) {
    case 'name':
      return { degree: factor.name === name ? 1 : 0, logarithm: 0 };
    case 'floor': {
      const [above, below] = [growthIn(factor.dividend, name), growthIn(factor.divisor, name)];
      const growth = { degree: above.degree - below.degree, logarithm: above.logarithm - below.logarithm };
      return compareGrowth(growth, { degree: 0, logarithm: 0 }) > 0 ? growth : { degree: 0, logarithm: 0 };
    }
    case 'floor-log2':
    case 'ceil-log2':
      return { degree: 0, logarithm: growthIn(factor.of, name).degree > 0 ? 1 : 0 };
    case 'min':
    case 'max': {
      const all = factor.parts.map((part) => growthIn(part, name)).sort(compareGrowth);
      return all[factor.kind === 'max' ? all.length - 1 : 0]!;
    }
  }
}
