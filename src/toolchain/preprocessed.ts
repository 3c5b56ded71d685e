/** Output of nvcc's preprocessor for a unit. */

/**
 * The part of a preprocessed text that comes from the project: host code and kernels as the compiler sees them, without
 * headers of the toolkit and of the system. Lines keep their markers, with the names that `own` returns.
 * @param text of one preprocessed file (`NAME.cpp1.ii`, which `nvcc -ptx --keep` leaves)
 * @param own the name of a file in the project; undefined for a file outside of it. The flag "system header" of a
 * marker is not sufficient: the expansion of a macro like NULL has it inside the user's own file.
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
      // System headers are long, so the scan continues at the next marker.
      const next = text.indexOf('\n# ', start);
      start = next === -1 ? text.length : next + 1;
      continue;
    }
    start = end + 1;
  }
  return parts.join('\n');
}

/**
 * Whether a preprocessed text has restrict pointers that device code may use. Only system headers without device code
 * are excluded: any other file may contain a part of a device function.
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

/** Whether a file contains device functions; `name` as in markers. */
function holdsDeviceCode(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0;) {
    const end = endOfPart(text, at);
    if (/\(\((?:device|global)\)\)/.test(text.slice(at, end))) return true;
    at = text.indexOf(name, end);
  }
  return false;
}

/** End offset of the part between two line markers that contains an offset. */
function endOfPart(text: string, at: number): number {
  const end = text.indexOf('\n# ', at);
  return end < 0 ? text.length : end;
}
