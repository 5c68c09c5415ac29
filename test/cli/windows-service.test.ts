/** The command that is registered as a Windows service, and the refusal on Linux. */
import '../helpers/service/dead-buses.ts';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parseArguments } from '#src/cli/arguments.js';
import { manageService, serviceCommand } from '#src/cli/windows-service.js';
import { runToEnd } from '../helpers/service/service.ts';

const program = ['C:\\Program Files\\nodejs\\node.exe', 'C:\\Program Files\\hostwire\\dist\\main.js'];
const SHIPPED = path.resolve(import.meta.dirname, '../../../../packaging/config.yaml');
const given = { program, logFile: 'C:\\log', folder: undefined, shipped: SHIPPED };

t.test('[9.service] this program is registered with --service and the options given', async (t) => {
  t.same(serviceCommand(program, parseArguments(['service', 'install'])), [...program, '--service']);
  const words = parseArguments(['service', 'install', '--port=80', '--config', 'a.yaml', '--config=/b.json']);
  const command = serviceCommand(program, words);
  const files = ['--config', path.resolve('a.yaml'), '--config', path.resolve('/b.json')];
  t.same(command, [...program, '--service', ...files, '--port', '80']);
  const again = parseArguments(command.slice(2));
  t.match(again, { command: 'run', isService: true, problem: undefined });
  t.equal(again.overrides.get('server.port')?.value, 80, 'it is read as it was given');
});

t.test('[9.service] install reports what could not be set; remove removes', async (t) => {
  const acts: unknown[] = [];
  const control = {
    install: (command: readonly string[]) => {
      acts.push(command);
      return ['the delayed start could not be set: Not supported (50)'];
    },
    remove: () => void acts.push('remove'),
  };
  const installed = manageService(control, parseArguments(['service', 'install']), given);
  t.equal(installed.exitCode, 0);
  t.match(installed.text, /registered.*\nNote: the delayed start could not be set: .*\.\nLog: C:\\log\n/);
  t.equal(manageService(control, parseArguments(['service', 'remove']), given).exitCode, 0);
  t.same(acts, [[...program, '--service'], 'remove']);
});

t.test('[10.first-start] install gives the service a configuration where it has none', async (t) => {
  const acts: string[] = [];
  const control = {
    install: () => {
      acts.push('install');
      return [];
    },
    remove: () => void acts.push('remove'),
  };
  const folder = t.testdir({});
  const install = (...words: readonly string[]) =>
    manageService(control, parseArguments(['service', 'install', ...words]), { ...given, folder });
  const file = path.join(folder, 'config.yaml');
  t.match(install().text, `\nConfiguration: ${file}; it admits only this machine until "hostwire pair"`);
  t.equal(readFileSync(file, 'utf8'), readFileSync(SHIPPED, 'utf8'));
  writeFileSync(file, '# mine');
  t.notMatch(install().text, 'Configuration:');
  t.equal(readFileSync(file, 'utf8'), '# mine', 'an update keeps it');
  rmSync(file);
  writeFileSync(path.join(folder, 'config.json'), '{}');
  install();
  t.strictSame(readdirSync(folder), ['config.json'], 'one of the other form is one, too');
  rmSync(path.join(folder, 'config.json'));
  install('--config', 'other.yaml');
  t.strictSame(readdirSync(folder), [], 'none for a service that reads another file');
  t.strictSame([...new Set(acts)], ['install']);
  t.throws(
    () =>
      manageService(control, parseArguments(['service', 'install']), {
        ...given,
        folder: path.join(folder, 'none'),
      }),
    /^the service was not registered: its configuration cannot be written: ENOENT/,
  );
  t.equal(acts.at(-1), 'remove', 'which would be open to the network');
});

t.test('[9.service] on Linux each of them is refused with a sentence', async (t) => {
  for (const words of [['--service'], ['run', '--service'], ['service', 'install'], ['service', 'remove']]) {
    const { code, stdout, stderr } = await runToEnd(words);
    t.equal(code, 1, words.join(' '));
    t.match(stderr, /^hostwire: this is for Windows services only: [^\n]*docs\/operating\.md\)\n$/);
    t.equal(stdout, '');
  }
});
