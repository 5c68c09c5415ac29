/** Output of `--version`. */
import { readFileSync } from 'node:fs';
import { PROGRAM_URL } from '../program-url.ts';

export interface VersionFacts {
  readonly version: string;
  /** A line about the HTTP engine. */
  readonly engine: string;
  /** "v20.20.2 on linux x64". */
  readonly node: string;
  /** "glibc 2.36"; undefined on systems with only one C library. */
  readonly libc: string | undefined;
}

/** The build writes it (scripts/commit.mjs). */
function readCommit(): string | undefined {
  try {
    return readFileSync(new URL('commit.txt', PROGRAM_URL), 'utf8');
  } catch {
    return undefined;
  }
}

/** `text`: "HASH DATE", and " changed" where the files differed from that commit. Pure. */
export function describeCommit(text: string | undefined): string {
  const [, hash = '', date, change] =
    /^([0-9a-f]{40}) (\d{4}-\d\d-\d\d)( changed)?\n$/.exec(text ?? '') ?? [];
  if (date === undefined) return 'unknown';
  return `${hash.slice(0, 12)} of ${date}${change === undefined ? '' : ', with changes'}`;
}

export const formatVersion = ({ version, engine, node, libc }: VersionFacts): string =>
  `${version}
commit: ${describeCommit(readCommit())}
${engine}
Node: ${node}${libc === undefined ? '' : `, ${libc}`}
`;

/** The part of Node's diagnostic report that names the C library. */
export interface LibraryReport {
  readonly header: { readonly glibcVersionRuntime?: string };
  readonly sharedObjects: readonly string[];
}

/** On Linux. Pure. */
export function describeLibc({ header, sharedObjects }: LibraryReport): string {
  if (header.glibcVersionRuntime !== undefined) return `glibc ${header.glibcVersionRuntime}`;
  return sharedObjects.some((file) => file.includes('/ld-musl-')) ? 'musl' : 'an unknown C library';
}
