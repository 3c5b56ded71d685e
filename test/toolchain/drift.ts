import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readRecord } from '../kernels/build-record.ts';
import { compilePortable, ptxFile } from '../kernels/portable-ptx.ts';
import { nvcc } from './fixture.ts';

const builds = ['verification', 'production'] as const;

/** Compiles test kernels again and compares the checked-in PTX, if the nvcc of this machine produced it. */
export function testDrift(files: readonly string[]): void {
  test(`the checked-in PTX is the output of this compiler for ${files.length} files`, async (t) => {
    if (!nvcc) return t.skip(`no nvcc: ${files.length * builds.length} builds of ${files.length} files were not compiled`);
    const { compiler: made } = readRecord();
    if (made !== nvcc.version.text) {
      return t.skip(`nvcc ${nvcc.version.text}, not ${made}: ${files.length * builds.length} builds were not compared`);
    }
    const drifted: string[] = [];
    for (const file of files) {
      for (const build of builds) {
        const ptx = await compilePortable(nvcc, file, build);
        if (ptx !== readFileSync(ptxFile(file, build), 'utf8')) drifted.push(`${file} ${build}`);
      }
    }
    assert.deepEqual(drifted, [], 'run test/kernels/regenerate.ts');
  });
}
