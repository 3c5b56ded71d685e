/**
 * Reads the ZIP archive of an artifact, which is not trusted. It is not written to disk. An archive whose structure
 * differs from those that `actions/upload-artifact` makes of one file is rejected (APPNOTE 6.3.10, sections 4.3 to
 * 4.5).
 */
import { inflateRawSync } from 'node:zlib';

/** Why an artifact is rejected. */
export class RefusedArtifact extends Error {}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const maxEntries = 8;

/**
 * The content of the one file of an archive.
 * @param name required name of the file
 * @param mostBytes of the file
 * @throws RefusedArtifact for anything else
 */
export function onlyFile(archive: Buffer, name: string, mostBytes: number): Buffer {
  const end = endOf(archive);
  const entries = archive.readUInt16LE(end + 10);
  const size = archive.readUInt32LE(end + 12);
  const start = archive.readUInt32LE(end + 16);
  if (archive.readUInt16LE(end + 8) !== entries || archive.readUInt16LE(end + 4) !== 0) refuse('it is in several parts');
  if (entries === 0 || entries > maxEntries) refuse(`it contains ${entries} entries`);
  if (start + size !== end) refuse('its directory is not at its end');
  let found: Buffer | undefined;
  for (let at = start, index = 0; index < entries; index += 1) {
    if (at + 46 > end || archive.readUInt32LE(at) !== entrySignature) refuse('its directory is damaged');
    const nameBytes = archive.readUInt16LE(at + 28);
    const length = 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (at + length > end) refuse('its directory is damaged');
    const own = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    // Only the entry with the expected name is accepted, and nothing is written to disk, so a path in the name is
    // harmless.
    if (own !== name) refuse(`it contains an entry with another name than ${name}`);
    if (found) refuse(`it contains ${name} twice`);
    found = contentOf(archive, at, start, nameBytes, mostBytes);
    at += length;
  }
  return found ?? refuse('it is empty');
}

function endOf(archive: Buffer): number {
  // The format allows a comment at the end of the archive; archives of upload-artifact have no comment.
  const end = archive.length - 22;
  if (end < 0 || archive.readUInt32LE(end) !== endSignature) refuse('it is not a ZIP archive');
  return end;
}

function contentOf(archive: Buffer, at: number, limit: number, nameBytes: number, mostBytes: number): Buffer {
  const made = archive.readUInt16LE(at + 4) >> 8;
  const flags = archive.readUInt16LE(at + 8);
  const method = archive.readUInt16LE(at + 10);
  const checksum = archive.readUInt32LE(at + 16);
  const packed = archive.readUInt32LE(at + 20);
  const size = archive.readUInt32LE(at + 24);
  const mode = archive.readUInt32LE(at + 38) >>> 16;
  const local = archive.readUInt32LE(at + 42);
  // Unix: a link, folder or device is not a regular file.
  if (made === 3 && (mode & 0o170000) !== 0 && (mode & 0o170000) !== 0o100000) refuse('it contains a link or device');
  if ((flags & 1) !== 0) refuse('it is encrypted');
  if (method !== 0 && method !== 8) refuse(`it is packed by method ${method}`);
  if (size > mostBytes) refuse(`its file has more than ${mostBytes} bytes`);
  if (local + 30 > limit || archive.readUInt32LE(local) !== localSignature) refuse('its entry is damaged');
  const data = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  if (archive.readUInt16LE(local + 26) !== nameBytes || data + packed > limit) refuse('its entry is damaged');
  const bytes = archive.subarray(data, data + packed);
  let content: Buffer;
  try {
    content = method === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: mostBytes });
  } catch {
    return refuse('its file cannot be unpacked within the limit');
  }
  if (content.length !== size) refuse('its file has another size than the directory specifies');
  if (crc32(content) !== checksum) refuse('its file does not fit its checksum');
  return content;
}

function refuse(why: string): never {
  throw new RefusedArtifact(`the archive is not one of Selvage: ${why}`);
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) !== 0 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 of ZIP archives (APPNOTE 4.4.7). */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
