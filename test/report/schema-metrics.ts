/** The schema of metrics in reports, from the table of metrics. */
import { boundMetrics, byMetric, metricTable, summedMetrics } from '../../src/cost/model/metrics.ts';

/** The part of the schema that names metrics. */
interface Schema {
  readonly $defs: {
    metric?: { enum: readonly string[] };
    readonly bounds: { propertyNames: { enum: readonly string[] } };
    readonly launchTotals: { properties: Record<string, unknown> };
    readonly regression: { readonly properties: Record<string, unknown> };
    readonly costResult: {
      readonly properties: {
        readonly limits: { readonly items: { readonly properties: Record<string, unknown> } };
      };
    };
  };
}

/** A copy of the schema in which all lists of metrics are those of the table. */
export function withMetrics<Whole extends object>(schema: Whole): Whole {
  const copy = structuredClone(schema);
  const { $defs } = copy as unknown as Schema;
  const reference = { $ref: '#/$defs/metric' };
  $defs.metric = { enum: Object.keys(metricTable) };
  $defs.bounds.propertyNames.enum = boundMetrics;
  $defs.regression.properties['metric'] = reference;
  $defs.costResult.properties.limits.items.properties['metric'] = reference;
  const summed = byMetric(summedMetrics, () => ({ type: ['number', 'null'] }));
  $defs.launchTotals.properties = { ...$defs.launchTotals.properties, ...summed };
  return copy;
}
