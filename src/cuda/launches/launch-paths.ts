/** The paths through the host program that reach one launch, distinguished if its extents differ. */
import type { LaunchEvent } from '../host/interpreter.ts';
import { hasChoice, type Substitution, substitutionOf, alternativesOf } from '../host/symbol-bindings.ts';
import { type Fact, termConstant } from '../host/term.ts';
import { extentsOf } from '../host/value.ts';

/** A launch that more paths than these reach is reported once, with differing properties left open. */
const maxWays = 8;

/** Consequences of the facts of a launch, for all kernels that it may be of. */
interface LaunchPaths {
  readonly ways: readonly (readonly Fact[])[];
  /** By path. */
  readonly resolved: readonly Substitution[];
  /** By path: whether it launches something. */
  readonly isPossible: readonly boolean[];
}

/** Cache: instances of one template query the launches of all of them. */
const knownWays = new WeakMap<LaunchEvent, LaunchPaths>();

/** The paths through the host program that reach a launch of different extents. */
export function launchPaths(event: LaunchEvent): LaunchPaths {
  let found = knownWays.get(event);
  if (!found) {
    const { term } = substitutionOf(event.facts);
    const shapes = [event.block, event.grid].flatMap((value) => (value && extentsOf(value)) ?? []).map(term);
    const terms = shapes.filter((one) => hasChoice(one));
    const ways = (terms.length > 0 ? alternativesOf(terms, maxWays) : undefined) ?? [[]];
    const resolved = ways.map((way) => remembered(substitutionOf(event.facts, [...event.symbolFacts, ...way])));
    const isPossible = resolved.map((way) => shapes.every((shape) => (termConstant(way.term(shape)) ?? 1n) >= 1n));
    found = { ways, resolved, isPossible };
    knownWays.set(event, found);
  }
  return found;
}

/** A substitution that replaces each fact once. */
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
