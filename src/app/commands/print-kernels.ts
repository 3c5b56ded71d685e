/** `selvage check --print WHAT`: internal representations of kernels, from IR to obligations of the first launch. */
import { UsageError } from '../../base/usage-error.ts';
import { printKernel } from '../../ir/form/print.ts';
import { checkSteps } from '../../check/check-kernel.ts';
import { printIntervals, printObligations, printSymbolic } from '../../check/print-check.ts';
import type { CheckTrace } from '../../check/check-trace.ts';
import { complete } from '../../base/coroutine.ts';
import type { ExitCode } from '../../report-model/exit-code.ts';
import type { Printed } from '../../settings/options.ts';
import { type Answered, Answers } from '../../solver/answers.ts';
import type { Solver } from '../../solver/solver.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import { taskOf } from '../pipeline/decide.ts';
import { diagnosticsOf, prepare } from '../pipeline/prepare.ts';
import { selectKernels } from '../pipeline/select.ts';
import type { Job } from '../project/job.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import { usualBudget, withoutReplay } from '../../check/request/check-budget.ts';
import type { CommandLineServices } from './services.ts';
import { print, writeErrors } from './output.ts';

/**
 * Prints the kernels that `--kernel` selects under their first launch.
 * @throws UsageError if it selects none
 */
export async function printKernels(job: Job, what: Printed, services: CommandLineServices): Promise<ExitCode> {
  const { settings, tools } = job;
  const { sources, units } = await prepare(job, ['verification']);
  const kernels = selectKernels(units, settings.options);
  const diagnostics = diagnosticsOf(units, kernels);
  writeErrors(diagnostics, services);
  const checks = await tools.openChecks(settings.options);
  const solver = checks.newSolver();
  try {
    const parts: string[] = [];
    for (const entry of kernels) parts.push(await printed(entry, what, job, sources, solver.start));
    print(parts.join('\n'), settings.options, services);
  } finally {
    await solver.close();
    await checks.close();
  }
  return units.some(({ compiled }) => !compiled) ? 3 : 0;
}

async function printed(
  entry: LaunchedKernel,
  what: Printed,
  { settings }: Job,
  sources: SourceFacts,
  solver: () => Promise<Solver>,
): Promise<string> {
  if (what === 'ir') return printKernel(entry.kernel);
  const [launch] = entry.launches;
  if (!launch) throw new UsageError(`--print ${what}: ${entry.name.qualified} has no launch.`);
  const { request } = taskOf(settings, sources, entry);
  if (what === 'smt') {
    const answers = new PrintedAnswers();
    await complete(
      checkSteps({ ...request, launch, solver, answers, budget: { ...withoutReplay(usualBudget), expired: () => false }, proofOnly: true }),
    );
    return `; kernel ${entry.name.full}\n${answers.text}`;
  }
  let text: string | undefined;
  const traces: Record<Exclude<Printed, 'ir' | 'smt'>, CheckTrace> = {
    symbolic: { facts: (facts) => void (text ??= printSymbolic(facts)) },
    intervals: { intervals: (facts, intervals) => void (text ??= printIntervals(facts, intervals)) },
    obligations: { pairs: (facts, pairs) => void (text ??= printObligations(facts, pairs)) },
  };
  const budget = { ...withoutReplay(usualBudget), expired: () => text !== undefined };
  await complete(checkSteps({ ...request, launch, solver, budget, proofOnly: true }, traces[what]));
  return `kernel ${entry.name.full}\n${text ?? 'nothing: the check ended before\n'}`;
}

/** Records each query, so that another solver can answer it. */
class PrintedAnswers extends Answers {
  text = '';

  override async find(...question: Parameters<Answers['find']>): Promise<Answered> {
    const found = await super.find(...question);
    this.text += `(reset) ; ${found.answer.kind}, by ${found.by}\n${question[0]}\n(check-sat)\n`;
    return found;
  }
}
