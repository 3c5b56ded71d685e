/** The assumptions of bounds. */
export type CostAssumption = 'non-negative' | 'no-wrap' | 'alignment' | 'stable-memory' | 'reconvergence';

/** The texts of the assumptions, in the order of the reports. */
export const costAssumptionTexts: Readonly<Record<CostAssumption, string>> = {
  'non-negative': 'integer parameters are not negative',
  'no-wrap': 'index arithmetic does not wrap around',
  alignment: 'array parameters are aligned to 256 bytes, as cudaMalloc aligns them',
  'stable-memory': 'while the threads of a block read a value that decides a branch of the whole block, no other thread writes that value',
  reconvergence: 'lanes of a warp that diverge at a branch reconverge after the branch, and no lane waits in a loop for another lane',
};
