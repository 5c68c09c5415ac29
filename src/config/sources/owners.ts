/** Judges whether other users can write the files, folders and commands that the service trusts. */
import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../errors.ts';
import type { Ownership } from './read-text.ts';

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
 * Returns why a service of the user `uid` must not trust `name`, and the command that mends it; undefined: it may. The file
 * must belong to that user or root, and no other user may write it. A group with the number of the owner counts as the
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

/** The same for the folders of `file` and of its link target: a user who can write a folder can replace its files. */
function whyFoldersNotTrusted(file: string, uid: number): string | undefined {
  const judge = (folder: string) => whyNotTrusted(folder, statSync(folder), uid);
  const reason = judge(path.dirname(file));
  if (reason !== undefined) return `its folder ${reason}`;
  if (!lstatSync(file).isSymbolicLink()) return undefined;
  const linked = judge(path.dirname(realpathSync(file)));
  return linked === undefined ? undefined : `the folder of the file it links to ${linked}`;
}

/** The same for a file with its folders. `uid` undefined (Windows): nothing is judged. */
export function whyFileNotTrusted(
  file: string,
  owner: Ownership,
  uid: number | undefined,
): string | undefined {
  if (uid === undefined) return undefined;
  return whyNotTrusted(file, owner, uid) ?? whyFoldersNotTrusted(file, uid);
}

/** The same for a command and its folder; undefined also if the file is missing, which starting it reports. */
export function whyCommandNotTrusted(command: string, uid: number): string | undefined {
  try {
    return whyFileNotTrusted(command, statSync(command), uid);
  } catch {
    return undefined;
  }
}
