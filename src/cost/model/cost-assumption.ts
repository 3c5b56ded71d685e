/** What bounds take for granted. */
export type CostAssumption = 'non-negative' | 'no-wrap' | 'alignment' | 'stable-memory' | 'reconvergence';

/** How reports say it; their order is that of the reports. */
export const costAssumptionTexts: Readonly<Record<CostAssumption, string>> = {
  'non-negative': 'integer parameters are not negative',
  'no-wrap': 'index arithmetic does not wrap around',
  alignment: 'arrays that parameters point to start at multiples of 256 bytes',
  'stable-memory': 'no two threads race on what decides where the threads of a block go together',
  reconvergence: 'lanes of a warp that part meet again behind the branch, and none waits for another one in a loop',
};
