/**
 * One instruction or more for every row of the table, in the syntax that ptxas accepts. Registers: `%h` 16 bits, `%r`
 * 32, `%d` 64, `%q` 128, `%f` f32, `%e` f64, `%p` predicates; `%d1` contains an address.
 */
export interface Example {
  readonly text: string;
  /** The first target that has it, or the only one. */
  readonly target: Target;
}

export type Target = 75 | 80 | 86 | 89 | 90 | '90a' | '100a' | '120a';

/** The targets, each with those whose PTX it accepts. */
export const targets: readonly { readonly name: Target; readonly accepts: readonly Target[] }[] = [
  { name: 75, accepts: [75] },
  { name: 80, accepts: [75, 80] },
  { name: 90, accepts: [75, 80, 86, 89, 90] },
  { name: '90a', accepts: [75, 80, 86, 89, 90, '90a'] },
  { name: '100a', accepts: [75, 80, 86, 89, 90, '100a'] },
  { name: '120a', accepts: ['120a'] },
];

const sm75 = `
add.s32 %r1, %r2, %r3
add.u64 %d2, %d3, %d4
add.s16 %h1, %h2, %h3
add.sat.s32 %r1, %r2, %r3
add.cc.u32 %r1, %r2, %r3
add.cc.u64 %d2, %d3, %d4
addc.u32 %r1, %r2, %r3
addc.cc.s32 %r1, %r2, %r3
addc.u64 %d2, %d3, %d4
sub.s32 %r1, %r2, 7
sub.sat.s32 %r1, %r2, %r3
sub.u16 %h1, %h2, %h3
sub.cc.u32 %r1, %r2, %r3
subc.u32 %r1, %r2, %r3
subc.cc.u64 %d2, %d3, %d4
mul.lo.s32 %r1, %r2, %r3
mul.hi.s32 %r1, %r2, %r3
mul.hi.u32 %r1, %r2, %r3
mul.lo.s64 %d2, %d3, %d4
mul.hi.s64 %d2, %d3, %d4
mul.hi.u64 %d2, %d3, %d4
mul.lo.s16 %h1, %h2, %h3
mul.hi.u16 %h1, %h2, %h3
mul.wide.s32 %d2, %r2, %r3
mul.wide.u32 %d2, %r2, 16
mul.wide.s16 %r1, %h2, %h3
mul.wide.u16 %r1, %h2, %h3
mad.lo.s32 %r1, %r2, %r3, %r4
mad.hi.u32 %r1, %r2, %r3, %r4
mad.hi.sat.s32 %r1, %r2, %r3, %r4
mad.wide.s32 %d2, %r2, %r3, %d3
mad.wide.u16 %r1, %h2, %h3, %r4
mad.lo.s64 %d2, %d3, %d4, %d5
mad.lo.cc.u32 %r1, %r2, %r3, %r4
mad.hi.cc.u32 %r1, %r2, %r3, %r4
madc.lo.u32 %r1, %r2, %r3, %r4
madc.hi.cc.s32 %r1, %r2, %r3, %r4
madc.hi.u64 %d2, %d3, %d4, %d5
mul24.lo.s32 %r1, %r2, %r3
mul24.lo.u32 %r1, %r2, %r3
mul24.hi.s32 %r1, %r2, %r3
mul24.hi.u32 %r1, %r2, %r3
mad24.lo.u32 %r1, %r2, %r3, %r4
mad24.hi.s32 %r1, %r2, %r3, %r4
mad24.hi.sat.s32 %r1, %r2, %r3, %r4
sad.s32 %r1, %r2, %r3, %r4
sad.u16 %h1, %h2, %h3, %h4
sad.u64 %d2, %d3, %d4, %d5
div.s32 %r1, %r2, %r3
div.u32 %r1, %r2, %r3
div.s64 %d2, %d3, %d4
div.u64 %d2, %d3, %d4
div.s16 %h1, %h2, %h3
div.u16 %h1, %h2, %h3
rem.s32 %r1, %r2, %r3
rem.u32 %r1, %r2, %r3
rem.s64 %d2, %d3, %d4
rem.u16 %h1, %h2, %h3
abs.s32 %r1, %r2
abs.s64 %d2, %d3
abs.s16 %h1, %h2
neg.s32 %r1, %r2
neg.s16 %h1, %h2
neg.s64 %d2, %d3
min.s32 %r1, %r2, %r3
min.u32 %r1, %r2, %r3
min.u16 %h1, %h2, %h3
max.s64 %d2, %d3, %d4
max.u64 %d2, %d3, %d4
max.s16 %h1, %h2, %h3
popc.b32 %r1, %r2
popc.b64 %r1, %d3
clz.b32 %r1, %r2
clz.b64 %r1, %d3
bfind.u32 %r1, %r2
bfind.s32 %r1, %r2
bfind.shiftamt.u32 %r1, %r2
bfind.shiftamt.s64 %r1, %d3
bfind.u64 %r1, %d3
fns.b32 %r1, %r2, %r3, %r4
brev.b32 %r1, %r2
brev.b64 %d2, %d3
bfe.u32 %r1, %r2, %r3, %r4
bfe.s32 %r1, %r2, %r3, %r4
bfe.u64 %d2, %d3, %r3, %r4
bfe.s64 %d2, %d3, 8, 16
bfi.b32 %r1, %r2, %r3, %r4, %r5
bfi.b64 %d2, %d3, %d4, %r4, %r5
szext.clamp.s32 %r1, %r2, %r3
szext.wrap.u32 %r1, %r2, %r3
bmsk.clamp.b32 %r1, %r2, %r3
bmsk.wrap.b32 %r1, %r2, %r3
dp4a.u32.u32 %r1, %r2, %r3, %r4
dp4a.s32.u32 %r1, %r2, %r3, %r4
dp2a.lo.s32.s32 %r1, %r2, %r3, %r4
dp2a.hi.u32.s32 %r1, %r2, %r3, %r4
add.f32 %f1, %f2, %f3
add.rn.f32 %f1, %f2, %f3
add.rz.ftz.f32 %f1, %f2, %f3
add.rm.sat.f32 %f1, %f2, %f3
add.f64 %e1, %e2, %e3
add.f16 %h1, %h2, %h3
add.rn.ftz.f16x2 %r1, %r2, %r3
sub.f32 %f1, %f2, %f3
sub.rp.f64 %e1, %e2, %e3
sub.sat.f16 %h1, %h2, %h3
mul.f32 %f1, %f2, %f3
mul.rn.ftz.sat.f32 %f1, %f2, %f3
mul.rz.f64 %e1, %e2, %e3
mul.f16x2 %r1, %r2, %r3
fma.rn.f32 %f1, %f2, %f3, %f4
fma.rz.ftz.f32 %f1, %f2, %f3, %f4
fma.rm.f64 %e1, %e2, %e3, %e4
fma.rn.f16 %h1, %h2, %h3, %h4
fma.rn.f16x2 %r1, %r2, %r3, %r4
mad.rn.f32 %f1, %f2, %f3, %f4
mad.rz.f64 %e1, %e2, %e3, %e4
div.rn.f32 %f1, %f2, %f3
div.approx.ftz.f32 %f1, %f2, %f3
div.full.f32 %f1, %f2, %f3
div.rp.f64 %e1, %e2, %e3
rcp.rn.f32 %f1, %f2
rcp.approx.ftz.f32 %f1, %f2
rcp.approx.ftz.f64 %e1, %e2
rcp.rz.f64 %e1, %e2
sqrt.rn.f32 %f1, %f2
sqrt.approx.f32 %f1, %f2
sqrt.rm.f64 %e1, %e2
rsqrt.approx.ftz.f32 %f1, %f2
rsqrt.approx.f64 %e1, %e2
rsqrt.approx.ftz.f64 %e1, %e2
sin.approx.f32 %f1, %f2
cos.approx.ftz.f32 %f1, %f2
lg2.approx.f32 %f1, %f2
ex2.approx.ftz.f32 %f1, %f2
ex2.approx.f16 %h1, %h2
tanh.approx.f32 %f1, %f2
tanh.approx.f16x2 %r1, %r2
abs.f32 %f1, %f2
abs.ftz.f32 %f1, %f2
abs.f64 %e1, %e2
neg.ftz.f32 %f1, %f2
neg.f32 %f1, %f2
neg.f64 %e1, %e2
neg.f16x2 %r1, %r2
min.f32 %f1, %f2, %f3
min.ftz.f32 %f1, %f2, %f3
max.f64 %e1, %e2, %e3
max.f32 %f1, %f2, %f3
copysign.f32 %f1, %f2, %f3
copysign.f64 %e1, %e2, %e3
testp.finite.f32 %p1, %f2
testp.infinite.f64 %p1, %e2
testp.number.f32 %p1, %f2
testp.notanumber.f32 %p1, %f2
testp.normal.f32 %p1, %f2
testp.subnormal.f64 %p1, %e2
set.lt.u32.s32 %r1, %r2, %r3
set.ge.and.f32.f32 %f1, %f2, %f3, %p2
set.eq.s32.u16 %r1, %h2, %h3
set.ltu.u32.f64 %r1, %e2, %e3
set.gt.f16.f16 %h1, %h2, %h3
set.eq.f16x2.f16x2 %r1, %r2, %r3
set.gtu.u32.f16x2 %r1, %r2, %r3
setp.eq.s32 %p1, %r2, %r3
setp.ne.b64 %p1, %d3, %d4
setp.lt.u32 %p1, %r2, 5
setp.lo.u32 %p1, %r2, %r3
setp.hs.u16 %p1, %h2, %h3
setp.gt.s64 %p1, %d3, %d4
setp.le.and.s32 %p1|%p3, %r2, %r3, %p2
setp.ge.xor.u32 %p1, %r2, %r3, !%p2
setp.ltu.ftz.f32 %p1, %f2, %f3
setp.equ.or.f64 %p1, %e2, %e3, %p2
setp.num.f32 %p1, %f2, %f3
setp.nan.f32 %p1, %f2, %f3
setp.neu.f16 %p1, %h2, %h3
setp.lt.f16x2 %p1|%p3, %r2, %r3
selp.b32 %r1, %r2, %r3, %p2
selp.f64 %e1, %e2, %e3, %p2
selp.b16 %h1, 1, 0, %p2
slct.s32.s32 %r1, %r2, %r3, %r4
slct.ftz.f64.f32 %e1, %e2, %e3, %f4
and.b32 %r1, %r2, %r3
and.pred %p1, %p2, %p3
or.b64 %d2, %d3, %d4
or.pred %p1, %p2, %p3
xor.b16 %h1, %h2, %h3
xor.pred %p1, %p2, %p3
not.b32 %r1, %r2
not.b64 %d2, %d3
not.pred %p1, %p2
cnot.b32 %r1, %r2
lop3.b32 %r1, %r2, %r3, %r4, 0x96
lop3.b32 %r1, %r2, %r3, %r4, 0x1a
shl.b32 %r1, %r2, %r3
shl.b64 %d2, %d3, %r3
shl.b16 %h1, %h2, %r3
shr.u32 %r1, %r2, %r3
shr.s32 %r1, %r2, %r3
shr.s64 %d2, %d3, %r3
shr.u16 %h1, %h2, %r3
shr.s16 %h1, %h2, %r3
shf.l.wrap.b32 %r1, %r2, %r3, %r4
shf.r.clamp.b32 %r1, %r2, %r3, %r4
shf.r.wrap.b32 %r1, %r2, %r3, %r4
shf.l.clamp.b32 %r1, %r2, %r3, %r4
mov.u32 %r1, %r2
mov.b64 %d2, %d3
mov.pred %p1, %p2
mov.f32 %f1, 0f3F800000
mov.u32 %r1, %tid.x
mov.b32 {%r1}, %r2
mov.b32 %r1, {%r2}
mov.v2.u32 {%r1, %r3}, {%r3, %r1}
mov.v4.f32 {%f1, %f2, %f3, _}, {%f4, %f3, %f2, %f1}
mov.b32 {%h1, %h2}, %r2
mov.b64 {%r1, %r3}, %d3
mov.b64 {%r1, _}, %d3
mov.b64 %d2, {%h1, %h2, %h3, %h4}
mov.b32 %r1, {%h1, %h2}
cvt.u32.u16 %r1, %h2
cvt.s32.s16 %r1, %h2
cvt.s64.s32 %d2, %r2
cvt.u64.u32 %d2, %r2
cvt.u32.u64 %r1, %d3
cvt.u16.u32 %h1, %r2
cvt.s32.s8 %r1, %r2
cvt.u32.u8 %r1, %r2
cvt.s16.s8 %h1, %h2
cvt.u8.u32 %r1, %r2
cvt.sat.u8.s32 %r1, %r2
cvt.sat.s8.s32 %r1, %r2
cvt.sat.s16.s32 %h1, %r2
cvt.sat.u16.s64 %h1, %d3
cvt.sat.s32.u32 %r1, %r2
cvt.rn.f32.s32 %f1, %r2
cvt.rz.f32.u64 %f1, %d3
cvt.rn.f32.u8 %f1, %h2
cvt.rn.f64.s32 %e1, %r2
cvt.rn.f64.u64 %e1, %d3
cvt.rn.f16.s32 %h1, %r2
cvt.rni.s32.f32 %r1, %f2
cvt.rzi.u32.f32 %r1, %f2
cvt.rmi.s64.f64 %d2, %e2
cvt.rpi.u64.f32 %d2, %f2
cvt.rzi.ftz.s32.f32 %r1, %f2
cvt.rzi.s16.f16 %h1, %h2
cvt.rzi.u8.f32 %r1, %f2
cvt.f64.f32 %e1, %f2
cvt.rn.f32.f64 %f1, %e2
cvt.rn.ftz.sat.f32.f64 %f1, %e2
cvt.f32.f16 %f1, %h2
cvt.rn.f16.f32 %h1, %f2
cvt.rzi.f32.f32 %f1, %f2
cvt.rmi.f64.f64 %e1, %e2
cvt.sat.f32.f32 %f1, %f2
cvt.pack.sat.u16.s32 %r1, %r2, %r3
cvt.pack.sat.s8.s32.b32 %r1, %r2, %r3, %r4
cvta.global.u64 %d2, %d1
cvta.to.global.u64 %d2, %d1
cvta.shared.u64 %d2, %d1
cvta.to.shared.u64 %d2, %d1
cvta.local.u64 %d2, %d1
cvta.to.local.u64 %d2, %d1
cvta.to.const.u64 %d2, %d1
isspacep.global %p1, %d1
isspacep.shared %p1, %d1
prmt.b32 %r1, %r2, %r3, %r4
prmt.b32 %r1, %r2, %r3, 0x5410
prmt.b32.f4e %r1, %r2, %r3, %r4
prmt.b32.b4e %r1, %r2, %r3, %r4
prmt.b32.rc8 %r1, %r2, %r3, %r4
prmt.b32.ecl %r1, %r2, %r3, %r4
prmt.b32.ecr %r1, %r2, %r3, %r4
prmt.b32.rc16 %r1, %r2, %r3, %r4
ld.global.f32 %f1, [%d1]
ld.global.u8 %h1, [%d1+3]
ld.global.s8 %r1, [%d1]
ld.s16 %r1, [%d1]
ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%d1]
ld.global.v2.u64 {%d2, _}, [%d1]
ld.shared.u32 %r1, [%r2]
ld.shared.f64 %e1, [%d1+8]
ld.volatile.shared.u32 %r1, [%d1]
ld.volatile.global.u32 %r1, [%d1]
ld.relaxed.gpu.global.u32 %r1, [%d1]
ld.acquire.sys.u32 %r1, [%d1]
ld.global.ca.u32 %r1, [%d1]
ld.global.cg.v2.u32 {%r1, %r2}, [%d1]
ld.global.L1::no_allocate.u32 %r1, [%d1]
ld.const.u32 %r1, [%d1]
ld.local.u32 %r1, [%d1]
ld.mmio.relaxed.sys.global.u32 %r1, [%d1]
ldu.global.u32 %r1, [%d1]
st.global.f32 [%d1], %f1
st.global.u8 [%d1], %r1
st.u16 [%d1+2], %h1
st.shared.v2.u32 [%r2], {%r1, %r3}
st.global.v4.f32 [%d1], {%f1, %f2, %f3, %f4}
st.volatile.shared.u32 [%d1], 0
st.relaxed.cta.shared.u32 [%d1], %r1
st.release.gpu.global.u64 [%d1], %d2
st.global.wt.u32 [%d1], %r1
st.local.u32 [%d1], %r1
atom.add.u32 %r1, [%d1], %r2
atom.global.add.f32 %f1, [%d1], %f2
atom.shared.add.u64 %d2, [%d1], %d3
atom.global.add.f64 %e1, [%d1], %e2
atom.add.noftz.f16x2 %r1, [%d1], %r2
atom.global.add.noftz.f16 %h1, [%d1], %h2
atom.min.s32 %r1, [%d1], %r2
atom.max.u64 %d2, [%d1], %d3
atom.inc.u32 %r1, [%d1], %r2
atom.dec.u32 %r1, [%d1], %r2
atom.exch.b32 %r1, [%d1], %r2
atom.exch.b64 _, [%d1], %d2
atom.cas.b32 %r1, [%d1], %r2, %r3
atom.cas.b64 %d2, [%d1], %d3, %d4
atom.cas.b16 %h1, [%d1], %h2, %h3
atom.and.b32 %r1, [%d1], %r2
atom.or.b32 %r1, [%d1], %r2
atom.xor.b64 %d2, [%d1], %d3
atom.cta.shared.add.u32 %r1, [%d1], %r2
atom.sys.add.u32 %r1, [%d1], %r2
atom.add.release.gpu.u32 %r1, [%d1], %r2
atom.acq_rel.gpu.global.cas.b32 %r1, [%d1], %r2, %r3
red.global.add.u32 [%d1], %r2
red.shared.max.s32 [%d1], %r2
red.relaxed.sys.global.add.f32 [%d1], %f2
red.global.or.b32 [%d1+4], %r2
prefetch.global.L2 [%d1]
prefetchu.L1 [%d1]
bra DONE
brx.idx %r1, TARGETS
ret
exit
trap
call (%r1), callee, (%r2)
nanosleep.u32 100
pmevent 3
brkpt
bar.sync 0
bar.sync %r1, 64
bar.sync 1, 64
bar.cta.sync 0
bar.arrive 1, 64
bar.red.popc.u32 %r1, 0, %p2
bar.red.and.pred %p1, 0, %p2
bar.red.or.pred %p1, 1, 64, !%p2
barrier.sync 0
barrier.cta.sync.aligned 0, 64
barrier.arrive 2, 128
barrier.cta.red.popc.aligned.u32 %r1, 0, %p2
bar.warp.sync 0xffffffff
bar.warp.sync %r1
membar.cta
membar.gl
membar.sys
fence.sc.gpu
fence.acq_rel.cta
fence.acq_rel.sys
fence.proxy.alias
shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1
shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, %r4
shfl.sync.down.b32 %r1, %r2, %r3, %r4, %r5
shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1
vote.sync.all.pred %p1, %p2, -1
vote.sync.any.pred %p1, !%p2, %r2
vote.sync.uni.pred %p1, %p2, -1
vote.sync.ballot.b32 %r1, %p2, %r2
match.any.sync.b32 %r1, %r2, -1
match.all.sync.b32 %r1|%p1, %r2, -1
match.any.sync.b64 %r1, %d2, -1
activemask.b32 %r1
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%d1]
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4}
wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1]
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}
wmma.store.d.sync.aligned.row.m16n16k16.f32 [%d1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}
movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2
tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %r2}]
tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}]
txq.width.b32 %r1, [%d1]
suld.b.2d.b32.trap {%r1}, [%d1, {%r2, %r3}]
suq.width.b32 %r1, [%d1]
sust.b.2d.b32.trap [%d1, {%r2, %r3}], {%r1}
sured.b.add.2d.u32.trap [%d1, {%r2, %r3}], %r1
vadd.u32.u32.u32 %r1, %r2, %r3
vsub.s32.s32.s32 %r1, %r2, %r3
vabsdiff.u32.s32.s32 %r1, %r2, %r3
vmin.u32.u32.u32 %r1, %r2, %r3
vmax.u32.u32.u32 %r1, %r2, %r3
vshl.u32.u32.u32.clamp %r1, %r2, %r3
vshr.u32.u32.u32.wrap %r1, %r2, %r3
vmad.u32.u32.u32 %r1, %r2, %r3, %r4
vset.u32.u32.lt %r1, %r2, %r3
vadd2.u32.u32.u32 %r1, %r2, %r3, %r4
vadd4.u32.u32.u32 %r1, %r2, %r3, %r4
vsub2.u32.u32.u32 %r1, %r2, %r3, %r4
vsub4.u32.u32.u32 %r1, %r2, %r3, %r4
vabsdiff2.u32.u32.u32 %r1, %r2, %r3, %r4
vabsdiff4.u32.u32.u32 %r1, %r2, %r3, %r4
vmin2.u32.u32.u32 %r1, %r2, %r3, %r4
vmin4.u32.u32.u32 %r1, %r2, %r3, %r4
vmax2.u32.u32.u32 %r1, %r2, %r3, %r4
vmax4.u32.u32.u32 %r1, %r2, %r3, %r4
vset2.u32.u32.lt %r1, %r2, %r3, %r4
vset4.u32.u32.lt %r1, %r2, %r3, %r4
vavrg2.u32.u32.u32 %r1, %r2, %r3, %r4
vavrg4.u32.u32.u32 %r1, %r2, %r3, %r4
vadd.s32.u32.s32.sat %r1, %r2, %r3
vsub.u32.u32.u32.sat.add %r1, %r2, %r3, %r4
vshl.s32.s32.u32.sat.wrap.max %r1, %r2, %r3, %r4
vset.s32.u32.ge.add %r1, %r2, %r3, %r4
vmad.s32.s32.u32.po.shr7 %r1, %r2, %r3, %r4
vmad.s32.s32.u32.sat %r1, %r2, %r3, %r4
vadd2.s32.s32.s32.sat %r1, %r2, %r3, %r4
vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4
vset4.s32.u32.ne.add %r1, %r2, %r3, %r4
vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1
vsub.u32.u32.u32 %r1, %r2.b3, %r3
vabsdiff.u32.u32.u32 %r1, %r2, %r3.h0
vmin.u32.u32.u32 %r1, %r2.b0, %r3
vmax.u32.u32.u32 %r1, %r2, %r3.b1
vshl.u32.u32.u32.clamp %r1, %r2.b0, %r3
vshr.u32.u32.u32.wrap %r1, %r2, %r3.b1
vset.u32.u32.lt %r1, %r2.h0, %r3
vadd2.u32.u32.u32 %r1, %r2.h11, %r3, %r4
vsub2.u32.u32.u32 %r1, %r2.h01, %r3, %r4
vavrg2.u32.u32.u32 %r1, %r2.h00, %r3, %r4
vabsdiff2.u32.u32.u32 %r1, %r2.h00, %r3, %r4
vmin2.u32.u32.u32 %r1, %r2.h00, %r3, %r4
vmax2.u32.u32.u32 %r1, %r2.h00, %r3, %r4
vset2.u32.u32.lt %r1, %r2.h00, %r3, %r4
vadd4.u32.u32.u32 %r1, %r2.b3333, %r3, %r4
vsub4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4
vavrg4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4
vabsdiff4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4
vmin4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4
vmax4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4
vset4.u32.u32.lt %r1, %r2.b0123, %r3, %r4
isspacep.local %p1, %d1
isspacep.const %p1, %d1
mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}
mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7, %r8}, {%r1, %r2, %r3, %r4}
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7}
mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}
mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}
mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}
ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r2]
ldmatrix.sync.aligned.m8n8.x2.b16 {%r1, %r2}, [%d1+16]
wmma.load.b.sync.aligned.col.m32n8k16.shared.s8 {%r1}, [%r2], %r3
wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r1, %r2}, [%d1]
wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r1}, [%d1], 128
wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}
wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}
wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%r5], {%r1, %r2, %r3, %r4}, 16
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%d1, {%f5, %f6}]
tex.level.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f5, %f6}], %f7
sust.p.2d.v4.b32.trap [%d1, {%r2, %r3}], {%r5, %r6, %r7, %r8}
istypep.surfref %p1, %d1
membar.proxy.alias
prefetch.local.L1 [%d1]
alloca.u64 %d2, 32
stacksave.u64 %d2
stackrestore.u64 %d3
`;

const sm80 = `
fma.rn.relu.f16 %h1, %h2, %h3, %h4
fma.rn.bf16 %h1, %h2, %h3, %h4
fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4
abs.bf16 %h1, %h2
neg.bf16x2 %r1, %r2
min.NaN.f32 %f1, %f2, %f3
max.f16 %h1, %h2, %h3
min.NaN.f16x2 %r1, %r2, %r3
max.bf16 %h1, %h2, %h3
cvt.rn.bf16.f32 %h1, %f2
cvt.rn.relu.bf16x2.f32 %r1, %f2, %f3
cvt.rn.f16x2.f32 %r1, %f2, %f3
cvt.rna.tf32.f32 %r1, %f2
ld.global.L2::cache_hint.u32 %r1, [%d1], %d2
ld.global.L1::evict_last.u32 %r1, [%d1]
ld.global.L2::128B.u32 %r1, [%d1]
st.global.L2::cache_hint.u32 [%d1], %r1, %d2
atom.global.add.L2::cache_hint.u32 %r1, [%d1], %r2, %d3
applypriority.global.L2::evict_normal [%d1], 128
discard.global.L2 [%d1], 128
createpolicy.fractional.L2::evict_last.b64 %d2
cp.async.ca.shared.global [%r1], [%d1], 4
cp.async.cg.shared.global [%r1], [%d1], 16
cp.async.ca.shared.global [%r1], [%d1], 16, %r2
cp.async.ca.shared.global [%r1], [%d1], 8, %p2
cp.async.commit_group
cp.async.wait_group 1
cp.async.wait_all
cp.async.mbarrier.arrive.shared.b64 [%r1]
cp.async.mbarrier.arrive.noinc.b64 [%d1]
redux.sync.add.s32 %r1, %r2, -1
redux.sync.min.u32 %r1, %r2, %r3
redux.sync.xor.b32 %r1, %r2, -1
mbarrier.init.shared.b64 [%r1], 32
mbarrier.inval.shared.b64 [%r1]
mbarrier.arrive.shared.b64 %d2, [%r1]
mbarrier.arrive_drop.shared.b64 %d2, [%r1]
mbarrier.test_wait.shared.b64 %p1, [%r1], %d2
mbarrier.pending_count.b64 %r1, %d2
mbarrier.arrive.noComplete.b64 %d2, [%d1], %r1
mbarrier.arrive_drop.noComplete.shared.b64 _, [%r1], 2
mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0
cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1], [%d1+16], 16, %d2
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d2, [%d1], 1024, 4096
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}
mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r5}, {%f5, %f6, %f7, %f8}
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r5}, {%f5, %f6, %f7, %f8}
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e1, %e2}, {%e3}, {%e4}, {%e5, %e6}
mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7}, {%r1, %r2, %r3, %r4}
mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r7, %r8}, {%r1, %r2, %r3, %r4}
mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7}, {%r1, %r2, %r3, %r4}
mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r7, %r8}, {%r1, %r2, %r3, %r4}
mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r7}, {%r1, %r2, %r3, %r4}
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r7, %r8}, {%r1, %r2, %r3, %r4}
mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r5, %r6}, {%f5, %f6, %f7, %f8}, %r7, 0x0
wmma.load.a.sync.aligned.row.m16n16k8.tf32 {%r1, %r2, %r3, %r4}, [%d1], %r5
wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}
wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%e1, %e2}, {%e3}, {%e4}, {%e5, %e6}
wmma.store.d.sync.aligned.row.m8n8k4.f64 [%d1], {%e1, %e2}, 8
cvt.rz.relu.f16.f32 %h1, %f2
`;

const sm86 = `
min.xorsign.abs.f32 %f1, %f2, %f3
max.NaN.xorsign.abs.f32 %f1, %f2, %f3
min.ftz.NaN.xorsign.abs.f16x2 %r1, %r2, %r3
`;

const sm89 = `
cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f3
cvt.rn.satfinite.relu.e5m2x2.f32 %h1, %f2, %f3
cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r2
cvt.rn.f16x2.e4m3x2 %r1, %h2
cvt.rn.relu.f16x2.e5m2x2 %r1, %h2
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}
mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7}
`;

const sm90 = `
add.u16x2 %r1, %r2, %r3
min.s16x2 %r1, %r2, %r3
max.relu.s32 %r1, %r2, %r3
min.relu.s16x2 %r1, %r2, %r3
max.u16x2 %r1, %r2, %r3
add.bf16 %h1, %h2, %h3
mul.bf16x2 %r1, %r2, %r3
tanh.approx.bf16 %h1, %h2
ex2.approx.ftz.bf16 %h1, %h2
cvt.f32.bf16 %f1, %h2
cvt.rn.bf16.s32 %h1, %r2
setp.lt.bf16 %p1, %h2, %h3
atom.global.v4.f32.add {%f1, %f2, %f3, %f4}, [%d1], {%f5, %f6, %f7, %f8}
atom.add.noftz.bf16 %h1, [%d1], %h2
red.global.v2.f32.add [%d1], {%f1, %f2}
barrier.cluster.arrive
barrier.cluster.arrive.release.aligned
barrier.cluster.wait.acquire
fence.acq_rel.cluster
fence.mbarrier_init.release.cluster
fence.proxy.async
elect.sync %r1|%p1, -1
mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r2
mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], %r2
mbarrier.try_wait.shared.b64 %p1, [%r1], %d2
mapa.u64 %d2, %d1, %r1
getctarank.u64 %r1, %d1
griddepcontrol.wait
griddepcontrol.launch_dependents
stmatrix.sync.aligned.m8n8.x2.shared.b16 [%d1], {%r1, %r2}
cp.async.bulk.commit_group
isspacep.shared::cluster %p1, %d1
atom.global.cas.b128 %q1, [%d1], %q2, %q3
atom.global.v2.f16x2.add.noftz {%r1, %r2}, [%d1], {%r3, %r4}
mbarrier.init.b64 [%d1], %r1
mbarrier.expect_tx.b64 [%d1], 64
mbarrier.complete_tx.shared::cta.b64 [%r1], 64
mbarrier.arrive.release.cta.shared::cta.b64 %d2, [%r1], %r2
mbarrier.arrive.expect_tx.release.cta.shared.b64 %d2, [%r1], 128
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1]
mbarrier.arrive_drop.expect_tx.relaxed.cluster.b64 _, [%d1], %r1
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r1], %r2, %r3
mbarrier.test_wait.relaxed.cluster.b64 %p1, [%d1], %d2
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 128, [%r2]
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], [%d1], %r3, [%r2], %h1, %d2
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1], 128, [%r2]
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r4], %r3, [%r2]
cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], %r3
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r1], %r3
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%r1], [%r4], %r3, [%r2]
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d1], [%r1], 64
cp.async.bulk.wait_group 1
cp.async.bulk.wait_group.read 0
cp.async.bulk.prefetch.L2.global [%d1], 128
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r3}], [%r4]
cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%d1, {%r2}], [%r4]
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3]
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3]
ld.shared::cluster.u32 %r1, [%r2]
st.shared::cluster.u32 [%r1], %r2
atom.shared::cluster.add.u32 %r1, [%r2], %r3
red.relaxed.cluster.shared::cluster.add.u32 [%r1], %r2
mapa.shared::cluster.u32 %r1, %r2, %r3
cvta.shared::cluster.u64 %d2, %d1
fma.rn.oob.f16 %h1, %h2, %h3, %h4
fence.proxy.tensormap::generic.acquire.gpu [%d1], 128
stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r1], {%r2, %r3, %r4, %r5}
mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rn {%e1, %e2, %e3, %e4}, {%e5, %e6}, {%e7}, {%e1, %e2, %e3, %e4}
mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%e1, %e2, %e3, %e4}, {%e1, %e2, %e3, %e4, %e5, %e6, %e7, %e8}, {%e1, %e2, %e3, %e4}, {%e5, %e6, %e7, %e8}
multimem.ld_reduce.global.add.f32 %f1, [%d1]
multimem.red.global.add.f32 [%d1], %f2
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%d2], 128
`;

const sm90a = `
tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%d1], %d2
setmaxnreg.inc.sync.aligned.u32 64
wgmma.fence.sync.aligned
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d2, %d3, %p1, 1, 1, 0, 0
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, {%r5, %r6, %r7, %r8}, %d3, %p1, 1, -1, 1
wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %d2, %d3, %p1, 1, 1
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d2, %d3, %r5, 0, %p1, 1, 1, 0, 0
wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, %d3, %p1
wgmma.commit_group.sync.aligned
wgmma.wait_group.sync.aligned 0
`;

const sm100a = `
add.rn.f32x2 %d2, %d3, %d4
fma.rn.ftz.f32x2 %d2, %d3, %d4, %d5
add.rz.f32.bf16 %f1, %h2, %f3
sub.f32.f16 %f1, %h2, %f3
fma.rn.sat.f32.f16 %f1, %h2, %h3, %f4
min.f32 %f1, %f2, %f3, %f4
max.NaN.abs.f32 %f1, %f2, %f3, %f4
redux.sync.max.abs.NaN.f32 %f1, %f2, -1
cvt.rn.satfinite.f16.f32 %h1, %f2
cvt.rn.satfinite.e2m3x2.f32 %h1, %f2, %f3
cvt.rn.f16x2.e3m2x2 %r1, %h2
cvt.rz.satfinite.ue8m0x2.f32 %h1, %f2, %f3
cvt.rs.f16x2.f32 %r1, %f2, %f3, %r4
ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3]
stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r3], {%r1}
st.bulk.weak.shared::cta [%r1], 64, 0
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2]
tcgen05.wait::ld.sync.aligned
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2]
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1
`;

const sm120a = `
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}
`;

function examplesOf(text: string, target: Target): Example[] {
  return text
    .trim()
    .split('\n')
    .map((line) => ({ text: line, target }));
}

export const examples: readonly Example[] = [
  ...examplesOf(sm75, 75),
  ...examplesOf(sm80, 80),
  ...examplesOf(sm86, 86),
  ...examplesOf(sm89, 89),
  ...examplesOf(sm90, 90),
  ...examplesOf(sm90a, '90a'),
  ...examplesOf(sm100a, '100a'),
  ...examplesOf(sm120a, '120a'),
];

/** Rows, by opcode and section, that no target from sm_75 on takes. */
export const withoutExample: ReadonlySet<string> = new Set(['shfl 9.7.9.5', 'vote 9.7.13.8']);
