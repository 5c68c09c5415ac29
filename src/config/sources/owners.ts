/** Whether somebody else can write what the service obeys: files, their folders, commands. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf, type Ownership } from './read-text.ts';

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;

/** A file on a read-only mount, as containers get theirs, cannot be written whatever its bits are. */
function isOnReadOnlyMount(name: string): boolean {
  try {
    accessSync(name, constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}

/**
 * Why `name` must not be obeyed by a service of the user `uid`, and the command that mends it; undefined: it may be. It
 * must belong to that user or root, and nobody else may write it. A group with the number of the owner counts as the
 * owner: Debian and others give each user such a group and let it write by default.
 */
export function whyNotTrusted(
  name: string,
  { uid: owner, gid, mode }: Ownership,
  uid: number,
): string | undefined {
  if (owner !== 0 && owner !== uid) {
    const wanted = uid === 0 ? 'root' : `${uid} or root`;
    return `belongs to user ${owner}, not to ${wanted}; run chown ${uid} on it, or use another`;
  }
  const isShared = (mode & GROUP_WRITES) !== 0 && gid !== owner;
  if ((!isShared && (mode & OTHERS_WRITE) === 0) || isOnReadOnlyMount(name)) return undefined;
  return 'can be written by others; run chmod go-w on it';
}

/** The same of the folders that `file` and what it links to are in: who writes a folder replaces its files. */
function whyFoldersNotTrusted(file: string, uid: number): string | undefined {
  const folder = path.dirname(file);
  const reason = whyNotTrusted(folder, statSync(folder), uid);
  if (reason !== undefined) return `its folder ${reason}`;
  const target = path.dirname(realpathSync(file));
  const linked = target === folder ? undefined : whyNotTrusted(target, statSync(target), uid);
  return linked === undefined ? undefined : `the folder of the file it links to ${linked}`;
}

/** The same of a file with its folders. `uid` undefined (Windows): nothing is judged. */
export function whyFileNotTrusted(
  file: string,
  owner: Ownership,
  uid: number | undefined,
): string | undefined {
  if (uid === undefined) return undefined;
  return whyNotTrusted(file, owner, uid) ?? whyFoldersNotTrusted(file, uid);
}

/** The same of a command and its folder; undefined also where there is no such file: starting it says so. */
export function whyCommandNotTrusted(command: string, uid: number): string | undefined {
  try {
    return whyFileNotTrusted(command, statSync(command), uid);
  } catch {
    return undefined;
  }
}
