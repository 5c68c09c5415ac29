// Makes all that a release has, into one folder: two runs from one commit make the same bytes.
//   node scripts/release/release.mjs --dry-run [--output FOLDER]   (build/release/)
// On Debian, as root (npm run prebuilds), in a checkout without changes, after npm ci. dist/ and prebuilds/ are made anew.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { describeCommit } from '../commit.mjs';
import { findCommand } from '../needs.mjs';
import { provideRuntime, runTool } from './runtime.mjs';
import { describeContents } from './sbom.mjs';
import { root, sourceDate, thirdPartyLicenses, VERSION } from './tree.mjs';

/** The commands that it needs beside those of scripts/prebuild.mjs, and their packages. */
const TOOLS = {
  xz: 'xz-utils',
  'dpkg-deb': 'dpkg',
  strip: 'binutils',
  'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu',
  zip: 'zip',
  wixl: 'wixl',
  msibuild: 'msitools',
};
const SUMS = 'SHA256SUMS';
/** Variables that change the output of compilers and compressors. */
const FLAGS = ['CFLAGS', 'CPPFLAGS', 'CXXFLAGS', 'LDFLAGS', 'XZ_DEFAULTS', 'XZ_OPT', 'GZIP', 'ZIPOPT'];

/** Returns the environment of all builds, independent of the time zone and the language of this machine. */
function environment(seconds) {
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(seconds), TZ: 'UTC', LC_ALL: 'C' };
  for (const name of FLAGS) delete env[name];
  return env;
}

/** Returns the steps of a release; `env` is that of all commands. */
function stepsOf(output, { env, commit, seconds }) {
  const run = (...args) => {
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2], env });
    if (status !== 0) throw new Error(`failed: node ${args.join(' ')}`);
  };
  const write = (name, text) => writeFileSync(path.join(output, name), text);
  const name = `hostwire-${VERSION}`;
  return {
    /** Built from nothing, so that no file of an earlier commit is included. */
    build() {
      for (const folder of ['dist', 'prebuilds', 'build/ts'])
        rmSync(path.join(root, folder), { recursive: true, force: true });
      run('scripts/prebuild.mjs');
      mkdirSync(path.join(root, 'dist'), { recursive: true });
      const prebuilt = path.join(root, `prebuilds/linux-${process.arch}/hostwire.node`);
      copyFileSync(prebuilt, path.join(root, 'dist/hostwire.node'));
      run('scripts/build.mjs', 'program', 'types');
    },
    source() {
      const tarball = path.join(output, `${name}-source.tar`);
      const prefix = `--prefix=${name}/`;
      runTool('git', ['archive', '--format=tar', prefix, '-o', tarball, 'HEAD'], { cwd: root, env });
      runTool('xz', ['-6', '-T2', tarball], { env });
    },
    npm() {
      // npm keeps the modes of files, which were made under some umask.
      const tracked = runTool('git', ['ls-files', '-z'], { cwd: root }).split('\0').filter(Boolean);
      const { bundleDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
      const bundled = bundleDependencies.map((each) => path.join('node_modules', each));
      runTool('chmod', ['-R', 'u+w,go-w,a+rX', '--', ...tracked, ...bundled], { cwd: root });
      for (const workspace of [[], ['-w', '@hostwire/client']])
        runTool('npm', ['pack', '--silent', '--pack-destination', output, ...workspace], { cwd: root, env });
    },
    linux() {
      for (const arch of ['x64', 'arm64'])
        for (const script of ['bundle.mjs', 'debian.mjs'])
          run(`scripts/release/${script}`, '--arch', arch, '--output', output);
    },
    windows: () => run('scripts/release/windows.mjs', '--output', output),
    papers() {
      write(`${name}-licenses.txt`, thirdPartyLicenses(provideRuntime(root, 'linux', 'x64')));
      write(`${name}.cdx.json`, describeContents(commit, seconds));
    },
    sums() {
      const lines = readdirSync(output).map((file) => {
        const digest = createHash('sha256').update(readFileSync(path.join(output, file)));
        return `${digest.digest('hex')}  ${file}\n`;
      });
      write(SUMS, lines.join(''));
    },
  };
}

/** Returns why no release can be made here, or undefined. */
function findObstacle(commit) {
  if (commit === undefined) return 'this is not a git checkout';
  if (commit.endsWith(' changed')) return 'files differ from the commit: see "git status"';
  const missing = Object.keys(TOOLS).filter((name) => findCommand(name) === undefined);
  if (missing.length === 0) return undefined;
  const packages = missing.map((name) => TOOLS[name]).join(' ');
  return `${missing.join(', ')} missing: install with "apt-get install ${packages}" (Debian)`;
}

function makeRelease(output) {
  const commit = describeCommit();
  const obstacle = findObstacle(commit);
  if (obstacle !== undefined) throw new Error(obstacle);
  process.umask(0o022);
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const seconds = sourceDate();
  const steps = stepsOf(output, { env: environment(seconds), commit, seconds });
  for (const [name, step] of Object.entries(steps)) {
    const started = Date.now();
    step();
    console.error(`-- ${name}: ${Math.round((Date.now() - started) / 1000)} s`);
  }
  for (const file of readdirSync(output))
    console.log(
      `${path.join(output, file)} (${(statSync(path.join(output, file)).size / 1e6).toFixed(1)} MB)`,
    );
}

try {
  const { values } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      output: { type: 'string', default: path.join(root, 'build/release') },
    },
  });
  if (!values['dry-run'])
    throw new Error(
      'nothing is published from here: --dry-run makes the files, and CONTRIBUTING.md says what follows',
    );
  makeRelease(path.resolve(values.output));
} catch (error) {
  console.error(`cannot make a release: ${error.message}`);
  process.exitCode = 1;
}
