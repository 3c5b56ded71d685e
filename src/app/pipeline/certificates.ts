/** The files of `--certificates`: one for each kernel. */
import { messageOf } from '../../base/text.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashText } from '../../base/hash.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type Certificate, type CertificateFile, certificateFormat, certificateVersion } from '../../certificate/certificate.ts';
import { sealOf } from '../../certificate/checker.ts';
import type { Launch } from '../../launch/launch.ts';
import type { CheckedKernel, LaunchedKernel } from '../build/phase-data.ts';

/** Certificates of a kernel under one launch. */
export interface ProvedLaunch {
  readonly launch: Launch;
  readonly certificates: readonly Certificate[];
}

/** The file of a kernel, with the seals of its claims. */
export function certificateFile({ name, kernel: { symbol } }: LaunchedKernel, proved: readonly ProvedLaunch[]): CertificateFile {
  const launches = proved.map(({ launch, certificates }) => {
    const [block, grid] = [launch.block, launch.grid].map((sizes) => [0, 1, 2].map((axis) => sizes?.[axis] ?? null)) as [
      (number | null)[],
      (number | null)[],
    ];
    const obligations = certificates.map((certificate) => {
      const { subject, tier, proof } = certificate;
      return { ...certificate, seal: sealOf({ kernel: name.full, symbol, block, grid, subject, tier, proof }) };
    });
    return { block, grid, obligations };
  });
  return { format: certificateFormat, version: certificateVersion, kernel: name.full, symbol, launches };
}

/** @throws UsageError if a file cannot be written */
export function writeCertificates(folder: string, kernels: readonly CheckedKernel[]): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const { entry, certificates } of kernels)
      if (certificates) writeFileSync(join(folder, fileName(entry)), `${JSON.stringify(certificates)}\n`);
  } catch (error) {
    throw new UsageError(`${folder} cannot be written: ${messageOf(error)}.`);
  }
}

/**
 * File name of a certificate. Several files may define kernels with the same symbol, compiled for several
 * architectures.
 */
function fileName({ unit, identity, arch, kernel: { symbol } }: LaunchedKernel): string {
  return `${symbol.replaceAll(/\W/g, '_').slice(0, 80)}-${hashText([unit.path, identity, arch, symbol].join('\n'))}.json`;
}
