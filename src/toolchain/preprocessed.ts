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
 * Whether a preprocessed text has restrict pointers that device code may use. The C headers of the host have many, and
 * device code calls nothing that they declare; the preprocessor tells them by the flag 4 of its markers.
 */
export function restrictsPointers(text: string): boolean {
  for (let at = text.indexOf('__restrict'); at >= 0;) {
    const start = text.lastIndexOf('\n# ', at) + 1;
    const found = text.indexOf('\n# ', at);
    const end = found < 0 ? text.length : found;
    const marker = text.slice(start, text.indexOf('\n', start));
    const isOfHost = /^# \d+ ".*" [ 1-3]*4$/.test(marker) && !/\(\((?:device|global)\)\)/.test(text.slice(start, end));
    if (!isOfHost) return true;
    at = text.indexOf('__restrict', end);
  }
  return false;
}
