/**
 * The paths through the host program that reach one launch, as far as the extents of the launch differ between them.
 */
import type { LaunchEvent } from './launch-event.ts';
import { alternativesOf } from '../../assumptions/cases.ts';
import { isContradictory } from '../../assumptions/contradiction.ts';
import { type Fact, termConstant } from '../../assumptions/expression.ts';
import { hasChoice } from '../../assumptions/parts.ts';
import { type Substitution, substitutionOf } from '../../assumptions/substitution.ts';
import { extentsOf } from './value.ts';

/**
 * Maximum number of paths to a launch that are distinguished; with more, it is reported once, without the properties
 * that differ.
 */
const maxPaths = 8;

/** The facts on each path to a launch, the same for all kernels that it may be of. */
interface LaunchPaths {
  readonly paths: readonly (readonly Fact[])[];
  /** The substitution implied by the facts of each path. */
  readonly resolved: readonly Substitution[];
  /** For each path, whether it launches any thread. */
  readonly isPossible: readonly boolean[];
  /** For each path, whether its conditions can hold together. */
  readonly isReachable: readonly boolean[];
}

/** Cache: instances of one template query the launches of all instances. */
const knownWays = new WeakMap<LaunchEvent, LaunchPaths>();

/** The paths through the host program to a launch that give it different extents. */
export function launchPaths(event: LaunchEvent): LaunchPaths {
  let found = knownWays.get(event);
  if (!found) {
    const { term } = substitutionOf(event.facts);
    const shapes = [event.block, event.grid].flatMap((value) => (value && extentsOf(value)) ?? []).map(term);
    const terms = shapes.filter((one) => hasChoice(one));
    const paths = (terms.length > 0 ? alternativesOf(terms, maxPaths) : undefined) ?? [[]];
    const resolved = paths.map((path) => remembered(substitutionOf(event.facts, [...event.symbolFacts, ...path])));
    const isPossible = resolved.map((path) => shapes.every((shape) => (termConstant(path.term(shape)) ?? 1n) >= 1n));
    const isReachable = paths.map(
      (path, at) =>
        !isContradictory([...[...event.facts, ...event.symbolFacts].flatMap((fact) => [fact, resolved[at]!.fact(fact)]), ...path]),
    );
    found = { paths, resolved, isPossible, isReachable };
    knownWays.set(event, found);
  }
  return found;
}

/** A substitution that caches its result for each fact. */
function remembered({ term, fact }: Substitution): Substitution {
  const replaced = new Map<Fact, Fact>();
  return {
    term,
    fact: (one) => {
      const known = replaced.get(one) ?? fact(one);
      replaced.set(one, known);
      return known;
    },
  };
}
