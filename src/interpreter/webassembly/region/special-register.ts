/** Special registers of a thread in region code. */
import type { SpecialRegister } from '../../../ir/form/kernel.ts';
import type { WasmLocal, WasmWord } from '../code/wasm-value.ts';
import type { RegionBuilder } from './region-builder.ts';
import { append, bind, i32, wasmConstant } from '../code/wasm-value.ts';
import { header } from './wasm-plan.ts';

/** The value of a special register in the running thread; appends its computation. */
export function readSpecial({ plan, body, frame, thread }: RegionBuilder, register: SpecialRegister): WasmWord {
  const { block, grid, threads, coordinates, dynamicShared } = plan;
  const constant = (value: number): WasmWord => wasmConstant(32, BigInt(value));
  const limited = (value: WasmLocal, limit: number): WasmLocal => ({ ...value, limit });
  const axis = 'xyz'.indexOf(register.at(-1)!);
  const position = (): WasmWord => {
    append(body, frame);
    body.memory('i32.load', header.position + 4 * axis);
    return limited(bind(body, 'i32'), grid[axis]! - 1);
  };
  const lane = (): WasmLocal => bind(body, 'i32', thread, i32(31), 'i32.and');
  switch (register) {
    case 'tid.x':
    case 'tid.y':
    case 'tid.z': {
      if (block[axis] === 1) return constant(0);
      if (block[axis] === threads) return limited(bind(body, 'i32', thread), threads - 1);
      const below = block.slice(0, axis).reduce((product, size) => product * size, 1);
      if (Number.isInteger(Math.log2(below)) && Number.isInteger(Math.log2(block[axis]!))) {
        append(body, thread, i32(Math.log2(below)), 'i32.shr_u', i32(block[axis]! - 1), 'i32.and');
      } else {
        append(body, thread, i32(2), 'i32.shl');
        body.memory('i32.load', coordinates + 4 * threads * axis);
      }
      return limited(bind(body, 'i32'), block[axis]! - 1);
    }
    case 'ntid.x':
    case 'ntid.y':
    case 'ntid.z':
      return constant(block[axis]!);
    case 'ctaid.x':
    case 'ctaid.y':
    case 'ctaid.z':
      return position();
    case 'nctaid.x':
    case 'nctaid.y':
    case 'nctaid.z':
      return constant(grid[axis]!);
    case 'laneid':
      return limited(lane(), 31);
    case 'warpsize':
      return constant(32);
    case 'dynamic_smem_size':
      return constant(dynamicShared);
    case 'lanemask_eq':
      return bind(body, 'i32', i32(1), lane(), 'i32.shl');
    case 'lanemask_lt':
      return bind(body, 'i32', i32(1), lane(), 'i32.shl', i32(1), 'i32.sub');
    case 'lanemask_le':
      return bind(body, 'i32', i32(2), lane(), 'i32.shl', i32(1), 'i32.sub');
    case 'lanemask_gt':
      return bind(body, 'i32', i32(-2), lane(), 'i32.shl');
    case 'lanemask_ge':
      return bind(body, 'i32', i32(-1), lane(), 'i32.shl');
  }
}
