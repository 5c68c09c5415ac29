// Tools for building the addon, and the Debian packages that contain them.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { findCommand } from './needs.mjs';

/** Returns whether the addon is built with cmake-js; otherwise with node-gyp. */
export function hasCmake() {
  return spawnSync('cmake', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** cmake-js looks for these two compilers itself, whatever CXX says. */
const FOR_CMAKE = [
  { title: 'a C++ compiler (g++ or clang++)', commands: ['g++', 'clang++'], package: 'g++' },
  { title: 'make', commands: ['make', 'ninja'], package: 'make' },
];

/** node-gyp takes others from the variables. */
const FOR_GYP = [
  { title: 'a C++ compiler (g++)', commands: ['g++'], variables: ['CXX'], package: 'g++' },
  { title: 'make', commands: ['make'], variables: ['MAKE'], package: 'make' },
  {
    title: 'python3',
    commands: ['python3', 'python'],
    variables: ['NODE_GYP_FORCE_PYTHON', 'PYTHON', 'npm_config_python'],
    package: 'python3',
  },
];

/** Returns a sentence that names the tools missing to build the addon, and the packages to install; or undefined. */
export function missingTools(useCmake = hasCmake()) {
  if (process.platform !== 'linux') return undefined;
  const missing = (useCmake ? FOR_CMAKE : FOR_GYP).filter(
    ({ commands, variables = [] }) =>
      !variables.some((name) => process.env[name]) && findCommand(...commands) === undefined,
  );
  if (missing.length === 0) return undefined;
  const titles = new Intl.ListFormat('en').format(missing.map(({ title }) => title));
  const packages = missing.map((tool) => tool.package).join(' ');
  return `the addon cannot be built without ${titles}: install it with "apt-get install ${packages}" (Debian)`;
}
