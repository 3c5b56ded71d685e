/** Writes the metrics into src/report/report.schema.json. Run: node test/report/regenerate.ts */
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { withMetrics } from './schema-metrics.ts';

const file = new URL('../../src/report/report.schema.json', import.meta.url);
const schema = JSON.parse(readFileSync(file, 'utf8')) as object;
// In the format of the repository.
const text = JSON.stringify(withMetrics(schema), null, 2);
writeFileSync(file, (await format('report.schema.json', text, { printWidth: 120 })).code);
