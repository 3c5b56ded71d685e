/** What a launch cannot do without: `<<<…>>>`, or a function of the runtime API. */
const launchText = /<<<|\bcudaLaunch(?:Cooperative)?Kernel/;

/** Whether a text can hold launches; spares most files the parser. */
export function mayLaunch(text: string): boolean {
  return launchText.test(text);
}

/**
 * The names that the launches of a text may launch, without namespaces: no launched kernel is missing, other words of the
 * calls are among them.
 */
export function namesLaunchedIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  if (!mayLaunch(text)) return names;
  for (const match of text.matchAll(/([A-Za-z_]\w*)\s*(?:<[^<>;{}]*>)?\s*<<</g)) names.add(match[1] ?? '');
  for (const match of text.matchAll(/\bcudaLaunch\w*\s*\(([^;]*)/g)) {
    for (const [word] of (match[1] ?? '').matchAll(/[A-Za-z_]\w*/g)) names.add(word);
  }
  return names;
}
