// The versions of the C and C++ libraries that binaries need, for the dependencies of a Debian package.
import { runTool } from './runtime.mjs';

/**
 * The release of GCC whose libstdc++ was the first with GLIBCXX_3.4.N (its manual, "ABI Policy and
 * Guidelines").
 */
const GCC_OF_GLIBCXX = {
  21: '5',
  22: '6',
  23: '7',
  24: '7',
  25: '8',
  26: '9',
  27: '9',
  28: '9',
  29: '11',
  30: '12',
};

const isLater = (a, b) => {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < Math.max(left.length, right.length); i++)
    if ((left[i] ?? 0) !== (right[i] ?? 0)) return (left[i] ?? 0) > (right[i] ?? 0);
  return false;
};

/** Returns the latest version of `prefix` (GLIBC, GLIBCXX) that any of `files` needs; undefined without one. */
export function latestVersion(prefix, files) {
  const text = files.map((file) => runTool('readelf', ['--version-info', '--wide', file])).join('\n');
  let latest;
  for (const [, version] of text.matchAll(new RegExp(`Name: ${prefix}_([0-9.]+) `, 'g')))
    if (latest === undefined || isLater(version, latest)) latest = version;
  return latest;
}

/** The glibc of Debian 11 and Ubuntu 20.04; binaries that need more are for this machine only. */
export const OLDEST_GLIBC = '2.31';

/** Returns the requirements of `files` on a system, as a sentence part, and whether the oldest systems meet them. */
export function requirementOf(files) {
  const { glibc, gcc, isForOldest } = libraryVersions(files);
  const text = isForOldest
    ? `glibc ${glibc} or later and libstdc++ (Debian 11, Ubuntu 20.04, RHEL 9 and later)`
    : `glibc ${glibc} or later and libstdc++ of GCC ${gcc} or later`;
  return { text, isForOldest };
}

/** Returns the versions of both libraries that `files` need. */
function libraryVersions(files) {
  const needed = latestVersion('GLIBC', files) ?? OLDEST_GLIBC;
  const glibc = isLater(needed, OLDEST_GLIBC) ? needed : OLDEST_GLIBC;
  const minor = Math.max(21, Number(latestVersion('GLIBCXX', files)?.split('.')[2] ?? 21));
  return { glibc, gcc: GCC_OF_GLIBCXX[minor] ?? '13', isForOldest: glibc === OLDEST_GLIBC };
}

/** Returns the field Depends, and whether the oldest systems are served. */
export function dependenciesOf(files) {
  const { glibc, gcc, isForOldest } = libraryVersions(files);
  return { depends: `libc6 (>= ${glibc}), libgcc-s1, libstdc++6 (>= ${gcc})`, isForOldest };
}
