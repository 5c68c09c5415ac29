/** The search for files, the merge of several, and the files that are rejected. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { ConfigError } from '#src/config/checks/problems.js';
import { type Loaded, type LoadOptions, loadConfig } from '#src/config/load.js';
import { describe } from '#src/config/sources/read-text.js';
import { listFolders } from '#src/config/sources/search.js';
import { checkTime } from '../helpers/limits.ts';
import {
  catchProblems,
  load,
  makeFolder,
  optionsFor,
  shorten,
  shortProblemsOf,
  writeFiles,
} from './loading.ts';

const level = ({ config }: Loaded) => config.log.level;

t.test(
  '[8.search-order] $XDG_CONFIG_HOME/hostwire, then the working folder, then /etc/hostwire',
  async (t) => {
    const on = (platform: string, variables: Record<string, string>) =>
      listFolders({ platform, cwd: '/w', variables });
    t.same(on('linux', { HOME: '/home/u', XDG_CONFIG_HOME: '/x' }), ['/x/hostwire', '/w', '/etc/hostwire']);
    const atHome = ['/home/u/.config/hostwire', '/w', '/etc/hostwire'];
    t.same(on('linux', { HOME: '/home/u' }), atHome);
    t.same(on('darwin', { HOME: '/home/u', XDG_CONFIG_HOME: 'relative' }), atHome);
    t.same(on('linux', { HOME: '/home/u', XDG_CONFIG_HOME: '' }), atHome);
    t.same(on('linux', {}), ['/w', '/etc/hostwire']);
    t.same(on('linux', { HOME: 'u' }), ['/w', '/etc/hostwire']);
    t.same(on('win32', { ProgramData: 'C:\\ProgramData', HOME: '/home/u' }), [
      '/w',
      'C:\\ProgramData\\hostwire',
    ]);
    t.same(on('win32', { PROGRAMDATA: 'D:\\P', XDG_CONFIG_HOME: 'C:\\x' }), [
      'C:\\x\\hostwire',
      '/w',
      'D:\\P\\hostwire',
    ]);
    t.same(on('win32', { ProgramData: 'x' }), ['/w']);
    t.same(
      listFolders({
        platform: 'win32',
        cwd: 'C:\\w',
        variables: { ProgramData: 'C:\\left\\here' },
        machineFolder: 'C:\\ProgramData',
      }),
      ['C:\\w', 'C:\\ProgramData\\hostwire'],
      'the folder that Windows reports overrides the variable',
    );
  },
);

function searchIn(t: Test) {
  const folder = makeFolder(t);
  const surroundings = {
    platform: 'linux',
    cwd: path.join(folder, 'cwd'),
    variables: { XDG_CONFIG_HOME: path.join(folder, 'xdg') },
  };
  return { folder, surroundings, options: optionsFor(folder, { surroundings }) };
}

t.test('[8.search-first] only the first folder that has a file counts', async (t) => {
  const { folder, options } = searchIn(t);
  writeFiles(folder, { 'xdg/hostwire/other.txt': '', 'cwd/config.yml': 'log: {level: warn}' });
  t.equal(level(loadConfig(options)), 'warn');
  writeFiles(folder, { 'xdg/hostwire/config.yaml': 'server: {port: 1}' });
  const loaded = loadConfig(options);
  t.equal(level(loaded), 'info', 'the second folder is not looked at');
  t.same(loaded.sources.files, [path.join(folder, 'xdg/hostwire/config.yaml')]);
  t.same(
    loaded.watch,
    ['config.json', 'config.yaml', 'config.yml'].map((name) => path.join(folder, 'xdg/hostwire', name)),
  );
  rmSync(path.join(folder, 'cwd'), { recursive: true });
  rmSync(path.join(folder, 'xdg'), { recursive: true });
  writeFileSync(path.join(folder, 'xdg'), 'a file where a folder is expected');
  const none = loadConfig(options);
  t.same(none.sources.files, []);
  t.equal(none.watch.length, 9, 'all places are watched while there is no file');
});

t.test('[8.search-foreign] in the working folder a file of another program is not read', async (t) => {
  const { folder, options } = searchIn(t);
  const file = path.join(folder, 'cwd/config.json');
  writeFiles(folder, { 'cwd/config.json': '{"compilerOptions": {}, "enabled": false}' });
  const loaded = loadConfig(options);
  t.same(loaded.sources.files, []);
  t.same(loaded.notices, [
    {
      level: 'info',
      text: `${file}: not read, because none of its keys is known; read it with --config FILE`,
    },
  ]);
  t.ok(loaded.watch.includes(file), 'it may become ours');
  writeFiles(folder, { 'cwd/config.yaml': 'log: {level: warn}' });
  const both = loadConfig(options);
  t.equal(level(both), 'warn');
  t.same(both.sources.files, [path.join(folder, 'cwd/config.yaml')]);
  for (const text of ['{"auth": {"enabled": true}, "more": 1}', '{"auth": ', '[]']) {
    writeFiles(folder, { 'cwd/config.json': text });
    const files = catchFiles(options);
    t.ok(files.includes(file), `${text} is read, or stops the start`);
  }
  writeFiles(folder, { 'cwd/config.json': '{}', 'xdg/hostwire/config.json': '{"compilerOptions": {}}' });
  t.match(loadConfig(options).unknownKeys, [{ key: 'compilerOptions' }], 'elsewhere every file is ours');
});

/** The files that are read, or that have problems. */
function catchFiles(options: LoadOptions): readonly string[] {
  try {
    return loadConfig(options).sources.files;
  } catch (error) {
    return error instanceof ConfigError ? error.problems.map(({ file }) => file) : [];
  }
}

t.test('[8.config-variable] $HOSTWIRE_CONFIG names the file; --config comes before it', async (t) => {
  const { folder, surroundings, options } = searchIn(t);
  writeFiles(folder, {
    'cwd/config.json': '{"log": {"level": "error"}}',
    'cwd/other.json': '{"log": {"level": "warn"}}',
    'cwd/third.json': '{"log": {"level": "debug"}}',
  });
  const variables = { ...surroundings.variables, HOSTWIRE_CONFIG: 'other.json' };
  const named = { ...options, surroundings: { ...surroundings, variables } };
  t.equal(level(loadConfig(named)), 'warn');
  t.equal(level(loadConfig({ ...named, paths: ['third.json'] })), 'debug');
  const unset = { ...surroundings, variables: { ...variables, HOSTWIRE_CONFIG: '' } };
  t.equal(level(loadConfig({ ...options, surroundings: unset })), 'error');
});

t.test('[8.reload-files] a file that appeared and is gone again stops no later reload', async (t) => {
  const { folder, options } = searchIn(t);
  writeFiles(folder, { 'cwd/config.json': '{"log": {"level": "error"}}' });
  const first = loadConfig(options);
  const added = path.join(folder, 'cwd/config.yaml');
  writeFiles(folder, { 'cwd/config.yaml': 'server: {max_streams: 5}' });
  const second = loadConfig(options, first);
  t.equal(second.config.server.max_streams, 5);
  rmSync(added);
  const third = loadConfig(options, second);
  t.equal(third.config.server.max_streams, 0);
  t.same(third.notices, [{ level: 'warn', text: `${added}: gone, its settings no longer apply` }]);
  t.same(loadConfig(options, third).notices, []);
  rmSync(path.join(folder, 'cwd/config.json'));
  t.throws(() => loadConfig(options, third), ConfigError, 'one of the start must stay');
});

t.test('[8.search-refused] a folder that cannot be read stops the start', async (t) => {
  const folder = makeFolder(t);
  symlinkSync('loop', path.join(folder, 'loop'));
  const surroundings = { platform: 'linux', cwd: path.join(folder, 'loop'), variables: {} };
  t.same(catchProblems(() => loadConfig(optionsFor(folder, { surroundings }))).map(shorten), [
    'config.json:- - cannot be accessed: its symbolic links form a loop; let the user of the service enter its folder',
    'config.yaml:- - cannot be accessed: its symbolic links form a loop; let the user of the service enter its folder',
    'config.yml:- - cannot be accessed: its symbolic links form a loop; let the user of the service enter its folder',
  ]);
});

t.test('[8.merge] JSON and YAML beside each other are one configuration', async (t) => {
  const { config, origins, sources } = load(t, {
    'config.json':
      '{"stats": {"stream_interval_seconds": 7}, "log": {"level": "warn"}, "processes": {"launch": {"a": {"command": "/a"}}}}',
    'config.yaml':
      'features: {enable_media: false}\nlog: {level: warn}\nprocesses: {launch: {b: {command: /b}}}',
    'config.yml': 'auth: {blocked_ips: [1.2.3.4, 1.2.3.5]}',
  });
  t.equal(config.stats.stream_interval_seconds, 7);
  t.equal(config.features.enable_media, false);
  t.same(config.auth.blocked_ips.entries, ['1.2.3.4', '1.2.3.5']);
  t.same(Object.keys(config.processes.launch), ['a', 'b']);
  t.match(origins.get('processes.launch.b'), /config\.yaml:3$/);
  t.match(origins.get('log.level'), /config\.json:1$/, 'set alike twice: the first place');
  t.equal(sources.files.length, 3);
});

t.test(
  '[8.merge-conflict] a key set differently in two files stops the start and names both places',
  async (t) => {
    const folder = makeFolder(t);
    writeFiles(folder, {
      'config.json':
        '{"log": {"level": "warn"},\n"auth": {"api_key": "hunter2", "blocked_ips": ["1.1.1.1", "2.2.2.2"]}, "processes": {"launch": {"a": {"command": "/a"}}}}',
      'config.yaml':
        'log:\n  level: info\nauth:\n  api_key: hunter3\n  blocked_ips: [2.2.2.2, 1.1.1.1]\nprocesses: {launch: {a: {command: /a, args: [x]}}}',
    });
    const problems = catchProblems(() => loadConfig(optionsFor(folder)));
    t.same(problems.map(shorten), [
      `config.yaml:2 log.level set differently at config.json:1; remove one of the two`,
      `config.yaml:4 auth.api_key set differently at config.json:2; remove one of the two`,
      `config.yaml:5 auth.blocked_ips set differently at config.json:2; remove one of the two`,
      `config.yaml:6 processes.launch.a set differently at config.json:2; remove one of the two`,
    ]);
    t.notMatch(JSON.stringify(problems), /hunter/);
  },
);

t.test('[8.config-option] --config: only the named files, in order, each once', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, {
    'config.json': '{"log":{"level":"error"}}',
    'b.yaml': 'log: {level: warn}',
    'a.JSON': '{"server":{"port":5}}',
    'c.YML': 'server: {port: 5}',
    'd.conf': '',
    config: '',
  });
  const loaded = loadConfig(
    optionsFor(folder, { paths: ['b.yaml', path.join(folder, 'a.JSON'), './b.yaml', 'c.YML'] }),
  );
  t.equal(level(loaded), 'warn');
  t.equal(loaded.config.server.port, 5);
  t.same(
    loaded.sources.files.map((file) => path.basename(file)),
    ['b.yaml', 'a.JSON', 'c.YML'],
  );
  t.same(loaded.watch, loaded.sources.files);
  t.same(
    catchProblems(() =>
      loadConfig(optionsFor(folder, { paths: ['gone.yaml', 'd.conf', 'config', 'b.yaml/x.json'] })),
    ).map(shorten),
    [
      'gone.yaml:- - cannot be opened: it does not exist; correct the path, or create the file',
      'd.conf:- - its name has another ending; expected .json, .yaml or .yml',
      'config:- - its name has another ending; expected .json, .yaml or .yml',
      'x.json:- - cannot be opened: a part of its path is not a folder; correct the path, or create the file',
    ],
  );
});

t.test('[8.size] 1 MiB and no more, in both spellings', async (t) => {
  for (const name of ['config.json', 'config.yaml']) {
    const text = '{"log": {"level": "warn"}}';
    t.equal(level(load(t, { [name]: text.padEnd(1_048_576) })), 'warn');
    for (const size of [1_048_577, 10 * 1024 * 1024])
      t.same(shortProblemsOf(t, { [name]: text.padEnd(size) }), [
        `${name}:- - is larger than 1 MiB; split it`,
      ]);
  }
});

t.test('[8.bytes] UTF-8 with or without a byte order mark, and no NUL', async (t) => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  for (const name of ['config.json', 'config.yaml']) {
    t.equal(level(load(t, { [name]: '\ufeff{"log": {"level": "warn"}}' })), 'warn');
    t.same(shortProblemsOf(t, { [name]: '\n{"log":\n{"level": "wa\0rn"}}' }), [
      `${name}:3 - contains a NUL character; save it as UTF-8`,
    ]);
    t.same(shortProblemsOf(t, { [name]: '\0' }), [`${name}:1 - contains a NUL character; save it as UTF-8`]);
    t.same(shortProblemsOf(t, { [name]: latin1('{"\u00e9":\n1}\n') }), [
      `${name}:1 - is not UTF-8; save it as UTF-8`,
    ]);
    t.same(shortProblemsOf(t, { [name]: latin1('{\n"\u00e9": 1\n}\n') }), [
      `${name}:2 - is not UTF-8; save it as UTF-8`,
    ]);
    t.same(shortProblemsOf(t, { [name]: latin1('{\n\n"\u00e9') }), [
      `${name}:3 - is not UTF-8; save it as UTF-8`,
    ]);
    t.same(shortProblemsOf(t, { [name]: Buffer.from('\ufeff{}', 'utf16le') }), [
      `${name}:1 - is not UTF-8; save it as UTF-8`,
    ]);
  }
});

t.test('[8.regular-file] a folder, FIFO, device or dangling link is rejected immediately', async (t) => {
  const folder = makeFolder(t);
  const at = (name: string) => path.join(folder, name);
  mkdirSync(at('folder.json'));
  execFileSync('mkfifo', [at('fifo.json')]);
  symlinkSync('/dev/zero', at('device.yaml'));
  symlinkSync('nowhere', at('nowhere.yaml'));
  symlinkSync('circle.yaml', at('circle.yaml'));
  const server = createServer().listen(at('socket.json'));
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const before = performance.now();
  const paths = ['folder.json', 'fifo.json', 'device.yaml', 'nowhere.yaml', 'circle.yaml', 'socket.json'];
  t.same(catchProblems(() => loadConfig(optionsFor(folder, { paths }))).map(shorten), [
    'folder.json:- - is a folder; name a file in it',
    'fifo.json:- - is a pipe or a device; name a regular file',
    'device.yaml:- - is a pipe or a device; name a regular file',
    'nowhere.yaml:- - cannot be opened: it does not exist; correct the path, or create the file',
    'circle.yaml:- - cannot be opened: its symbolic links form a loop; correct the path, or create the file',
    'socket.json:- - cannot be opened: it is a socket or a device; correct the path, or create the file',
  ]);
  checkTime(t, performance.now() - before, 200, 'six paths');
  symlinkSync('nowhere', at('config.json'));
  t.same(
    catchProblems(() => loadConfig(optionsFor(folder))).map(shorten),
    ['config.json:- - cannot be opened: it does not exist; correct the path, or create the file'],
    'a dangling link in a searched folder is not a missing file',
  );
});

t.test('the reason of a failure is a word for any thrown value', async (t) => {
  t.equal(describe(Object.assign(new Error('/secret/path'), { code: 'EIO' })), 'EIO');
  t.equal(describe(new Error('/secret/path')), 'unknown error');
  t.equal(describe('x'), 'unknown error');
  t.equal(describe(null), 'unknown error');
});

t.test('a problem is one line: file, line, key, message', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': 'log:\n  level: x\nserver: 1\n' });
  try {
    loadConfig(optionsFor(folder));
    t.fail('it loaded');
  } catch (error) {
    const file = path.join(folder, 'config.yaml');
    t.equal(
      String(error),
      `ConfigError: ${file}:2: log.level: expected "error", "warn", "info" or "debug", found "x"\n${file}:3: server: expected a map of keys such as host, found a number`,
    );
  }
});
