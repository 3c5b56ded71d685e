/** The fact that would decide an undecided finding or verdict, and how the user can state it. */
import type { Unmodelled } from '../../interpreter/core/run-result.ts';
import type { ReportedFact } from '../../report-model/finding.ts';
import type { DecidingFact, OpenLaunch, OpenQuestion } from '../../verdict/deciding-fact.ts';
import { code, codeList, listed, readable, valueText } from '../text/code-text.ts';

/** A fact with its texts for a report. */
export function reportedFact({ question, statement, tried }: DecidingFact): ReportedFact {
  return {
    text: factText(question),
    ...(statement !== undefined && { statement }),
    ...(tried !== undefined && { tried }),
  };
}

/** The unknown fact, or its remedy, as a clause. */
function factText(question: OpenQuestion): string {
  switch (question.kind) {
    case 'order':
      return question.by.map((kind) => undecidedOrders[kind]).join('; ');
    case 'index': {
      const index = readable(question.index);
      return `undecided: Selvage cannot determine the values of ${index === undefined ? 'an index' : `the index ${index}`}`;
    }
    case 'overlap':
      return 'undecided: no proof and no run shows whether two threads access the same element without a barrier in between';
    case 'pointer':
      return 'state which array the pointer refers to';
    case 'distance':
      return 'state the distance between the two pointers';
    case 'apart':
      return `state, if it is true, that the kernel uses parts of ${codeList(question.arrays)} that do not overlap`;
    case 'written':
      return `the kernel writes ${codeList(question.arrays)}, so Selvage accepts no assumption about the indices that it reads from there`;
    case 'distinct':
      return `state, if it is true, that all elements of ${codeList(question.arrays)} are different`;
    case 'launch':
      return `state ${launchText(question.launch)}`;
    case 'condition':
      return question.launch
        ? `state ${launchText(question.launch)}: whether all threads of a block take the same branch depends on ${valueText(question.condition)}`
        : `undecided: no proof and no run shows whether ${valueText(question.condition)} is the same for all threads of a block`;
    case 'divergence':
      return question.isShown
        ? 'fix the barrier divergence first'
        : 'undecided: Selvage would first have to prove that all threads reach the barriers';
    case 'races':
      return 'undecided: Selvage would first have to prove that the kernel has no races';
    case 'warp-agreement':
      return 'undecided: no proof shows that the condition is the same for all threads of a warp';
    case 'departure':
      return 'undecided: Selvage cannot determine whether the threads that do not reach the barrier have returned or have taken another path';
    case 'bounds':
      return 'first keep every index inside of its array: with fewer blocks or threads, a larger array or a check of the index';
    case 'width':
      return 'first compute the index in 64 bits';
    case 'null-pointer':
      return 'first pass an array, or test the pointer before the access';
    case 'alignment':
      return 'first make the address of the access a multiple of its size';
    case 'reachability':
      return 'correct the assumptions so that a thread can reach the line';
  }
}

/** Actions that would decide a race whose accesses only an unmodelled synchronisation may order. */
const undecidedOrders: Readonly<Record<Unmodelled, string>> = {
  'fence-order': 'make sure that one of the two fences always comes first, with a flag for example',
  'warp-exchange': `add ${code('__syncwarp()')} next to the shuffle or vote`,
  cluster: 'state the dimensions of the cluster',
};

/** The unspecified parts of a launch: `the block of the launch and the value of n`. */
function launchText({ dimensions, scalars }: OpenLaunch): string {
  const sizes = dimensions.length > 0 ? [`the ${listed(dimensions)} of the launch`] : [];
  return listed([...sizes, ...scalars.map((name) => `the value of ${code(name)}`)]);
}

/** The parts of a fact for an output: its text, its statement, and the outcome of the statement. */
export function decidingPhrases({ text, statement, tried }: ReportedFact): {
  readonly fact: string;
  readonly statement?: { readonly before: string; readonly code: string; readonly after: string };
} {
  if (statement === undefined) return { fact: text };
  const outcomes = {
    proved: ' Selvage proves the kernel',
    settled: ' this finding goes away',
    open: ' Selvage still cannot decide',
  } as const;
  const after = tried === undefined ? '' : outcomes[tried];
  return { fact: text, statement: { before: tried === undefined ? 'stated as ' : 'with ', code: statement, after } };
}

/** As {@link decidingPhrases}, in plain text. */
export function decidingText(wouldDecide: ReportedFact): string {
  const { fact, statement } = decidingPhrases(wouldDecide);
  return statement ? `${fact}; ${statement.before}${code(statement.code)}${statement.after}` : fact;
}
