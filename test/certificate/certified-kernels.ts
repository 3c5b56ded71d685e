/** Certificates of the test kernels, as `check --certificates` writes them. */
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CertificateFile } from '../../src/certificate/certificate.ts';
import { certificateFile, type ProvedLaunch } from '../../src/app/pipeline/certificates.ts';
import type { LaunchedKernel } from '../../src/app/build/phase-data.ts';
import { sharedSolver } from '../check/kernel-text.ts';
import { analyseCheckedIn } from '../kernels/checked-in.ts';

/** The certificates of each kernel of a file under each launch, separately. */
export async function certificatesOf(file: string): Promise<CertificateFile[]> {
  const files: CertificateFile[] = [];
  await analyseCheckedIn(file, {
    options: { checks: ['race', 'divergence'], certificates: 'unused' },
    check: async (original) => {
      const result = await checkKernel({ ...original, solver: sharedSolver });
      const { kernel, name, launch } = original;
      const proved: ProvedLaunch[] = result.certificates ? [{ launch, certificates: result.certificates }] : [];
      files.push(certificateFile({ name: { full: name }, kernel } as LaunchedKernel, proved));
      return result;
    },
  });
  return files;
}
