/** What nvcc's preprocessor makes of a unit. */

/**
 * The part of a preprocessed text that comes from the project: host code and kernels as the compiler sees them, headers
 * of the toolkit and of the system left out. Lines keep their markers, with the names that `own` gives.
 * @param text of one preprocessed file (`NAME.cpp1.ii`, which `nvcc -ptx --keep` leaves)
 * @param own the name of a file in the project; undefined for a file outside of it. The flag of a marker that says
 *   "system header" is no help: what a macro like NULL expands to carries it inside the user's own file.
 */
export function ownText(text: string, own: (path: string) => string | undefined): string {
  const names = new Map<string, string | undefined>();
  const parts: string[] = [];
  let isOwn = false;
  for (let start = 0; start < text.length;) {
    let end = text.indexOf('\n', start);
    if (end === -1) end = text.length;
    if (text.charCodeAt(start) === 35 && text.charCodeAt(start + 1) === 32) {
      const marker = /^# (\d+) "((?:[^"\\]|\\.)*)"/.exec(text.slice(start, end));
      if (marker) {
        const path = (marker[2] ?? '').replace(/\\(.)/g, '$1');
        if (!names.has(path)) names.set(path, own(path));
        const name = names.get(path);
        isOwn = name !== undefined;
        if (name !== undefined) parts.push(`# ${marker[1]} ${JSON.stringify(name)}`);
      }
    } else if (isOwn) parts.push(text.slice(start, end));
    else {
      // Headers are long: on to the next marker.
      const next = text.indexOf('\n# ', start);
      start = next === -1 ? text.length : next + 1;
      continue;
    }
    start = end + 1;
  }
  return parts.join('\n');
}

/**
 * Whether a preprocessed text has restrict pointers that device code may use. Headers of the system that have no device
 * code may have them: they are the host's. All others may hold a part of a device function.
 */
export function restrictsPointers(text: string): boolean {
  const ofHost = new Set<string>();
  for (let at = text.indexOf('__restrict'); at >= 0;) {
    const start = text.lastIndexOf('\n# ', at) + 1;
    const line = text.slice(start, text.indexOf('\n', start));
    const [, name = '', flags = ''] = /^# \d+ ("(?:[^"\\]|\\.)*")([ 1-4]*)$/.exec(line) ?? [];
    if (!flags.includes('3')) return true;
    ofHost.add(name);
    at = text.indexOf('__restrict', endOfPart(text, at));
  }
  return [...ofHost].some((name) => holdsDeviceCode(text, name));
}

/** Whether a file has functions of the device; `name` as markers have it. */
function holdsDeviceCode(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0;) {
    const end = endOfPart(text, at);
    if (/\(\((?:device|global)\)\)/.test(text.slice(at, end))) return true;
    at = text.indexOf(name, end);
  }
  return false;
}

/** Where the part between two markers ends that holds a place. */
function endOfPart(text: string, at: number): number {
  const end = text.indexOf('\n# ', at);
  return end < 0 ? text.length : end;
}
