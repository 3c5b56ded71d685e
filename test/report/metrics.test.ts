/** Every metric of the table is in the schema, in the configuration, and in the sentences about costs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBoundMetric, isShare, type Metric, metricTable } from '../../src/cost/model/metrics.ts';
import schema from '../../src/report/report.schema.json' with { type: 'json' };
import { parseConfiguration } from '../../src/settings/configuration-parser.ts';
import { codes } from '../../src/source/codes.ts';
import { exceededMessage, regressionMessage } from '../../src/messages/cost/cost-messages.ts';
import { withMetrics } from './schema-metrics.ts';

const metrics = Object.keys(metricTable) as Metric[];

test('the schema of reports lists the metrics (npm run regenerate)', () => {
  assert.deepEqual(schema, withMetrics(schema));
});

test('the configuration accepts a threshold and a limit of each metric', () => {
  const limitOf = (metric: Metric): string => (isBoundMetric(metric) ? '"<= 8*n"' : isShare(metric) ? '">= 50%"' : '8');
  const limits = metrics.map((metric) => `${metric}: ${limitOf(metric)}`);
  const thresholds = metrics.map((metric) => `${metric}: { warn: "${isShare(metric) ? '-' : '+'}5%" }`);
  const text = `version: 1\nkernels: [{ match: k, limits: { ${limits.join(', ')} } }]\nchecks: { cost: { ${thresholds.join(', ')} } }\n`;
  const { configuration, diagnostics } = parseConfiguration(text, '.selvage.yml');
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(Object.keys(configuration.kernels[0]!.limits).sort(), [...metrics].sort());
  assert.deepEqual(Object.keys(configuration.checks.cost).sort(), [...metrics].sort());
});

test('each metric has a code, and sentences about a change for the worse and about a limit', () => {
  const said = new Set<string>();
  for (const metric of metrics) {
    assert.equal(codes[metricTable[metric].code].severity, 'notice');
    const [base, head] = isBoundMetric(metric) ? ['n', '2*n'] : isShare(metric) ? [0.5, 0.25] : [16, 32];
    const values = isBoundMetric(metric) ? { baseValue: 8, headValue: 16, at: { n: 8 }, ratio: 2 } : {};
    said.add(regressionMessage({ metric, base, head, ...values }));
    said.add(exceededMessage({ metric, head, limit: '<= 8', ...values }));
  }
  assert.equal(said.size, 2 * metrics.length);
});
