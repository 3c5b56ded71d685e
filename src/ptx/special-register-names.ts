/** Special registers of PTX ISA 10, without their components. */
const SCALAR = new Set(
  (
    '%laneid %warpid %nwarpid %smid %nsmid %gridid %is_explicit_cluster %cluster_ctarank %cluster_nctarank ' +
    '%lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %globaltimer ' +
    '%globaltimer_lo %globaltimer_hi %reserved_smem_offset_begin %reserved_smem_offset_end ' +
    '%reserved_smem_offset_cap %total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec'
  ).split(' '),
);

const VECTOR = new Set('%tid %ntid %ctaid %nctaid %clusterid %nclusterid %cluster_ctaid %cluster_nctaid'.split(' '));

/** `%tid` and the like, which have components x, y, z and w. */
export function isVectorSpecialRegister(name: string): boolean {
  return VECTOR.has(name);
}

/** `%laneid`, `%clock64`, `%envreg3`, `%tid.x` …: a register that no declaration names. */
export function isSpecialRegister(name: string): boolean {
  const dot = name.indexOf('.');
  if (dot >= 0) return VECTOR.has(name.slice(0, dot)) && /^[xyzw]$/.test(name.slice(dot + 1));
  return (
    SCALAR.has(name) || VECTOR.has(name) || /^%(?:pm[0-7](?:_64)?|envreg(?:[0-9]|[12][0-9]|3[01])|reserved_smem_offset_[01])$/.test(name)
  );
}
