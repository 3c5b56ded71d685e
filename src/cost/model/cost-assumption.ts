/** What bounds take for granted. */
export type CostAssumption = 'non-negative' | 'no-wrap' | 'alignment' | 'stable-memory' | 'reconvergence';

/** How reports say it; their order is that of the reports. */
export const costAssumptionTexts: Readonly<Record<CostAssumption, string>> = {
  'non-negative': 'integer parameters are not negative',
  'no-wrap': 'index arithmetic does not wrap around',
  alignment: 'array parameters are aligned to 256 bytes, as cudaMalloc aligns them',
  'stable-memory': 'no thread writes what decides a branch of the whole block while others read it',
  reconvergence:
    'lanes of a warp that diverge at a branch reconverge behind it, and no lane waits in a loop for another one',
};
