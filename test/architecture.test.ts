/** The house keeps its shape: who may import whom, who knows which library, no child process, files of a readable size. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Many, testMany } from './helpers/many.ts';

const root = path.resolve(import.meta.dirname, '../../..');

function filesIn(folder: string, ...endings: readonly string[]): readonly string[] {
  return readdirSync(path.join(root, folder), { recursive: true })
    .map((file) => path.posix.join(folder, String(file)))
    .filter((file) => endings.some((ending) => file.endsWith(ending)));
}

const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
/** Without comments, which may say any word. */
const codeOf = (file: string) => textOf(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '');
const sources = filesIn('src', '.ts');
const native = filesIn('native', '.cc', '.h').filter((file) => !file.startsWith('native/fuzz/'));

/** The folder that a file of src/ is in (`http/uws`); a file at the top is a folder of its own. */
function folderOf(file: string): string {
  const inside = file.split('/').slice(1);
  return inside.length === 1 ? (inside[0] ?? '').replace(/\.ts$/, '') : inside.slice(0, -1).join('/');
}

function importsOf(file: string): readonly string[] {
  return [...textOf(file).matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
}

/**
 * The layers of src/, from the ground up. A module imports only from layers below its own, and from modules to the left
 * of its own within one. A file at the top is a module of its own.
 */
const LAYERS: readonly (readonly string[])[] = [
  [
    'errors',
    'json',
    'clock',
    'socket-errors',
    'name-lookup',
    'replace-file',
    'program-url',
    'url-host',
    'listeners',
    'nearest',
  ],
  ['scopes', 'clean', 'fairness', 'log', 'identity'],
  ['wire', 'params', 'tls', 'access', 'client'],
  ['host', 'wake', 'config'],
  ['stats', 'processes', 'history', 'commands'],
  ['http', 'streams', 'mqtt', 'socket', 'machine'],
  ['composition', 'notify', 'exporters', 'viewers'],
  ['engines', 'http-server', 'service', 'hub', 'cli'],
  ['run', 'main', 'api'],
];

const RANKS: ReadonlyMap<string, number> = new Map(LAYERS.flat().map((name, at) => [name, at]));

/** The module of a file: the first folder below src/, or the file itself. */
const moduleOf = (file: string) => (file.split('/')[1] ?? '').replace(/\.ts$/, '');

/** The one folder that knows each third-party library. */
const LIBRARIES: Readonly<Record<string, (file: string) => boolean>> = {
  'uWebSockets.js': (file) => file.startsWith('src/http/uws/'),
  selfsigned: (file) => file === 'src/tls/self-signed.ts',
  ws: (file) =>
    file.startsWith('src/http/node/') ||
    file.startsWith('src/socket/') ||
    file === 'src/client/pinned.ts' ||
    file === 'src/cli/top/open.ts',
  'ipaddr.js': (file) => file === 'src/access/addresses.ts',
  'js-yaml': (file) => file.startsWith('src/config/sources/'),
  mqtt: (file) => file.startsWith('src/mqtt/'),
  qr: (file) => file === 'src/cli/keys/qr.ts',
  valibot: (file) => /^src\/(?:wire|api)\//.test(file),
};

/** Libraries that only the build needs: nothing in these folders is loaded by the service. */
const BUILD_LIBRARIES: typeof LIBRARIES = {
  '@valibot/to-json-schema': (file) => file.startsWith('src/api/'),
};

/** At most this many lines, and words of docs/. They fall with each step; a commit that raises one says what left for it. */
const LINES: Readonly<Record<string, number>> = {
  src: 50_701,
  native: 34_100,
  web: 9_795,
  test: 98_731,
  docs: 54_000,
};
const SOURCE_ENDINGS: Readonly<Record<string, readonly string[]>> = {
  src: ['.ts'],
  native: ['.cc', '.h'],
  web: ['.ts', '.tsx', '.css'],
  test: ['.ts'],
};

/** Returns the lines of a folder's sources, or the words of its pages. */
function sizeOf(folder: string): number {
  const endings = SOURCE_ENDINGS[folder];
  const texts = filesIn(folder, ...(endings ?? ['.md'])).map(textOf);
  return texts.reduce((sum, text) => sum + text.split(endings ? '\n' : /\s+/).length - 1, 0);
}

testMany('the ceiling: nothing grows', async (t) => {
  for (const [folder, most] of Object.entries(LINES)) {
    const size = sizeOf(folder);
    t.ok(size <= most, `${folder}: ${size} of ${most}`);
  }
});

testMany('modules import only from below', async (t) => {
  for (const file of sources) {
    const own = RANKS.get(moduleOf(file));
    t.ok(own !== undefined, `${moduleOf(file)} is in a layer`);
    for (const imported of importsOf(file).filter((name) => name.startsWith('.'))) {
      const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), imported));
      if (moduleOf(target) !== moduleOf(file))
        t.ok((RANKS.get(moduleOf(target)) ?? Number.NaN) < (own ?? 0), `${file} may import ${imported}`);
    }
  }
});

testMany('docs/architecture.md draws these layers', async (t) => {
  const rows = textOf('docs/architecture.md').matchAll(/^ \d {2}(\w.*)$/gm);
  t.strictSame([...rows].map(([, names = '']) => names.split('  ')).toReversed(), LAYERS);
});

/** The engines. */
const ENGINES = /^http\/(?:uws|node)$/;

testMany('one file loads an engine, and an engine knows of the rest only its seam', async (t) => {
  for (const file of sources) {
    const folder = folderOf(file);
    for (const imported of importsOf(file).filter((name) => name.startsWith('.'))) {
      const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), imported));
      if (ENGINES.test(folderOf(target)) && folderOf(target) !== folder)
        t.equal(file, 'src/engines.ts', `${file} may import ${imported}`);
      if (ENGINES.test(folder) && folderOf(target) === 'http')
        t.match(
          target,
          /^src\/http\/(?:chunked|engine|engine-socket|head|upgrade)\.ts$/,
          `${file} may import ${imported}`,
        );
    }
  }
});

/** Fails where imports go around, between the names that files have by `nameOf`; returns how many names there are. */
function checkNoCycle(t: Many, nameOf: (file: string) => string, files = sources): number {
  const targets = new Map<string, Set<string>>();
  for (const file of files)
    for (const name of importsOf(file).filter((imported) => imported.startsWith('.'))) {
      const target = nameOf(path.posix.normalize(path.posix.join(path.posix.dirname(file), name)));
      if (target !== nameOf(file))
        targets.set(nameOf(file), (targets.get(nameOf(file)) ?? new Set()).add(target));
    }
  const settled = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    if (settled.has(name)) return;
    if (trail.includes(name)) {
      t.fail([...trail.slice(trail.indexOf(name)), name].join(' -> '));
      return;
    }
    for (const target of targets.get(name) ?? []) visit(target, [...trail, name]);
    settled.add(name);
  };
  for (const name of targets.keys()) visit(name, []);
  return settled.size;
}

testMany('neither folders nor files import each other, not even types', async (t) => {
  t.ok(checkNoCycle(t, folderOf) > 15, 'folders');
  t.ok(checkNoCycle(t, (file) => file) > 300, 'files');
  t.ok(checkNoCycle(t, (file) => file, filesIn('web', '.ts', '.tsx')) > 30, 'files of the dashboard');
});

testMany('each third-party library is known to one folder', async (t) => {
  for (const file of sources)
    for (const name of importsOf(file)) {
      if (name.startsWith('.') || name.startsWith('node:')) continue;
      const isItsRoom = LIBRARIES[name] ?? BUILD_LIBRARIES[name];
      t.ok(isItsRoom?.(file), `${file} may import ${name}`);
    }
  const { dependencies, devDependencies, bundleDependencies } = JSON.parse(
    textOf('package.json'),
  ) as Readonly<{
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
    bundleDependencies: readonly string[];
  }>;
  t.strictSame(
    Object.keys(dependencies).sort(),
    ['node-addon-api', 'node-api-headers', 'uWebSockets.js', 'ws'],
    'the engines, and what the addon is compiled with where no prebuilt one loads; the rest is in the bundle',
  );
  t.strictSame(
    [...bundleDependencies].sort(),
    Object.keys(dependencies).sort(),
    'the package brings all of them',
  );
  const versions = { ...devDependencies, ...dependencies };
  for (const name of new Set([...Object.keys(LIBRARIES), ...Object.keys(dependencies)]))
    t.match(versions[name] ?? 'none', /^(npm:[\w-]+@)?\d+\.\d+\.\d+$/, `${name} is pinned exactly`);
});

testMany(
  'the dashboard knows the client and the words of the wire, and keeps its texts out of the markup',
  async (t) => {
    const files = filesIn('web', '.ts', '.tsx');
    t.ok(files.length > 20, `${files.length} files`);
    for (const file of files) {
      const text = textOf(file);
      t.match(text, /^\/\*\*/, `${file} opens with a sentence`);
      t.ok(text.split('\n').length <= 300, `${file} stays readable`);
      for (const name of importsOf(file)) {
        const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), name));
        const isOwn = name.startsWith('.') && /^web\/|^src\/client\/client\.ts$/.test(target);
        // Its stream is that of the service, of all machines, or of one machine of a hub.
        const isStream = file === 'web/visit.ts' && /^src\/client\/(?:stream|environment)\.ts$/.test(target);
        const isType =
          /^src\/wire\//.test(target) &&
          text.includes(`from '${name}'`) &&
          !new RegExp(`import \\{[^}]*\\} from '${name}'`).test(text);
        t.ok(
          isOwn || isStream || isType || /^(?:preact(?:\/hooks)?|uplot)$/.test(name),
          `${file} may import ${name}`,
        );
      }
      t.notMatch(
        codeOf(file),
        />\s*[A-Za-z]{2,}[^<>{}=;()]*<\//,
        `${file} names its texts (texts.ts, or T of its card)`,
      );
      t.notMatch(
        codeOf(file),
        /innerHTML|https?:\/\/(?!www\.w3\.org)/,
        `${file} makes no HTML of text, and names no other site`,
      );
    }
  },
);

/** Starts the apps that the configuration names, and nothing else. */
const LAUNCHERS = new Map([
  ['native/linux/process/spawn.cc', /\bexecve\(/],
  ['native/windows/process/launch.cc', /CreateProcessW\(/],
]);

testMany('nothing in src/ or native/ starts a process, but the launcher', async (t) => {
  for (const file of sources) t.notMatch(textOf(file), /child_process|process\.binding/, file);
  for (const file of native.filter((name) => !LAUNCHERS.has(name)))
    t.notMatch(
      textOf(file),
      /\b(?:execv?[lpe]*|v?fork|clone3?|popen|system|posix_spawnp?|CreateProcess[AW]?)\s*\(/,
      file,
    );
  for (const [file, call] of LAUNCHERS) t.match(textOf(file), call, `${file} is still the one`);
});

/**
 * Calls that run on libuv's pool, with the reason why they cannot wait for anything but this machine's own disk. Four
 * calls that hang there stop every file from being read.
 */
const POOL_USERS: ReadonlyMap<string, RegExp> = new Map([
  // The documents of the API, from this program's own folder, once each.
  ['src/viewers/routes/documents.ts', /^readFile$/],
  // Metrics and JSON, compressed for clients that ask for it; gzipSync runs on the calling thread.
  ['src/http/compress.ts', /^gzip(?:Sync)?$/],
  // Listening looks up `server.host` where it is a name, once.
  ['src/http/node/server.ts', /^(?:https?|net)$/],
  // Types, and the class of responses.
  ['src/http/node/connection.ts', /^(?:type IncomingMessage|ServerResponse|net)$/],
  ['src/http/node/exchange.ts', /^(?:IncomingMessage|ServerResponse)$/],
  ['src/http/node/head.ts', /^IncomingMessage$/],
  ['src/http/node/sockets.ts', /^(?:IncomingMessage|net)$/],
  ['src/http/node/stream.ts', /^net$/],
  ['src/mqtt/broker-socket.ts', /^net$/],
  // Types.
  ['src/mqtt/connection.ts', /^Socket$/],
  ['src/socket/peer-socket.ts', /^Socket$/],
  ['src/socket/web-socket.ts', /^(?:RequestOptions|Socket)$/],
  // `hostwire doctor` listens for a moment: its own process, which serves no client.
  ['src/cli/ports.ts', /^net$/],
  // As server.ts.
  ['src/http/node/secure.ts', /^https$/],
  // The names of machines, hubs and brokers are looked up two at a time; the rest of the hub uses no thread of the pool.
  ['src/name-lookup.ts', /^(?:lookup|LookupFunction)$/],
  // Types.
  ['src/socket/dial.ts', /^Socket$/],
  // A hub's memory of its machines, what is muted, the queues of notifications: each one write at a time, after a change.
  ['src/replace-file.ts', /^(?:open|rename|rm)$/],
  ['src/history/mutes.ts', /^readFile$/],
  ['src/notify/kept-file.ts', /^readFile$/],
  // Receivers of notifications, whose names are looked up as those of hubs are.
  ['src/notify/request.ts', /^(?:https?|type RequestOptions)$/],
  // In a worker of its own, on its thread.
  ['src/history/store/blobs.ts', /^(?:deflateRawSync|inflateRawSync)$/],
  // The client: a program of its own.
  ['src/client/pinned.ts', /^https$/],
]);
/** Functions of node:fs that use no thread of the pool: the synchronous ones, and inotify. */
const OFF_POOL = /Sync$|^(?:constants|watch|type FSWatcher)$/;

testMany("libuv's pool runs nothing of the addon, and only what is listed of the service", async (t) => {
  for (const file of native)
    t.notMatch(textOf(file), /AsyncWorker|napi_create_async_work|uv_queue_work/, `${file} uses own threads`);
  const used = new Set<string>();
  for (const file of sources)
    for (const [, names = '', folder = ''] of textOf(file).matchAll(
      /^import (?:type )?([^;']+) from 'node:(fs|fs\/promises|dns|dns\/promises|net|http|https|zlib)';/gm,
    ))
      for (const name of names.replaceAll(/[{}\n]/g, '').split(',')) {
        const word = name.trim();
        if (word === '' || (folder === 'fs' && OFF_POOL.test(word))) continue;
        // Tables and tests of text.
        if (['STATUS_CODES', 'isIP', 'isIPv4', 'isIPv6'].includes(word)) continue;
        t.match(word, POOL_USERS.get(file) ?? /^$/, `${file}: ${word} of node:${folder}`);
        used.add(file);
      }
  t.strictSame([...used].sort(), [...POOL_USERS.keys()].sort(), 'nothing is listed that is not used');
});

/** Where threads are started: probers, detached tasks with a limit, loop threads, and the wait for a launched app's end. */
const THREADS = [
  'native/host/prober_state.cc',
  ...['native/host/ask_within.h', 'native/napi/detached_work.cc', 'native/windows/command_thread.h'],
  ...['native/linux/bus/thread.cc', 'native/windows/command_thread.cc'],
  ...['native/windows/media/smtc.cc', 'native/windows/service/control.cc'],
  ...['native/linux/process/launch.cc', 'native/linux/streams/streams.cc'],
];

testMany('there are three ways to run work on another thread', async (t) => {
  const starts = /\b(?:startThread|pthread_create|_beginthreadex|CreateThread)\(|\bstd::(?:j?thread|async)\b/;
  const ground = /^native\/(?:host|linux|windows|unsupported)\/thread\.(?:cc|h)$/; // startThread itself
  const found = native.filter((file) => !ground.test(file) && starts.test(codeOf(file)));
  t.strictSame([...found].sort(), [...THREADS].sort());
});

testMany('each error that the addon names has a symbol', async (t) => {
  const known = new Set<string>();
  for (const file of ['native/host/error.cc', 'native/linux/error_symbol.cc'])
    for (const [, name = ''] of textOf(file).matchAll(/HOSTWIRE_ERROR\((\w+)\)/g)) known.add(name);
  t.ok(known.size > 130, `${known.size} symbols`);
  for (const file of native.filter((name) => !name.startsWith('native/windows/')))
    for (const [name] of codeOf(file).matchAll(/\bE(?!\d\b|POLL)[A-Z0-9]{3,}\b/g))
      t.ok(known.has(name), `${file}: ${name}`);
});

/** The engine on Node's own server asks which Node it is, whose parsers differ. */
const MAY_TOUCH_PROCESS = ['src/main.ts', 'src/run.ts', 'src/http/node/server.ts'];

testMany('src/ reads no kernel files, and only main touches process', async (t) => {
  for (const file of sources) {
    const text = codeOf(file);
    if (!file.startsWith('src/config/'))
      t.notMatch(text, /['"`]\/(?:proc|sys)\//, `${file} names no kernel file`);
    if (!MAY_TOUCH_PROCESS.includes(file))
      t.notMatch(text, /(?<![/'-])\bprocess\.\w|from 'node:process'/, `${file} does not touch process`);
  }
});

testMany('platforms stay in their folders', async (t) => {
  for (const file of native.filter((name) => !/^native\/(?:linux|windows|unsupported)\//.test(name))) {
    t.notMatch(textOf(file), /#\s*if(?:n?def)?\b.*(?:_WIN32|__linux__|__APPLE__|__GLIBC__|_MSC_VER)/, file);
  }
});

testMany('only the bus folder knows the library that speaks D-Bus', async (t) => {
  for (const file of native.filter((name) => !name.startsWith('native/linux/bus/')))
    t.notMatch(textOf(file), /sdbus::|sd_bus_|lib(?:systemd|elogind|basu)\b/, file);
});

testMany('both build files take the same sources', async (t) => {
  const groups = JSON.parse(textOf('native/sources.json')) as Record<string, readonly string[]>;
  const platforms = ['linux', 'windows', 'unsupported'];
  for (const file of native.filter((name) => name.endsWith('.cc'))) {
    const covers = (entry: string) => file === entry || file.startsWith(`${entry}/`);
    const times = platforms.map(
      (platform) => ['shared', platform].flatMap((group) => groups[group] ?? []).filter(covers).length,
    );
    t.equal(Math.max(...times), 1, `${file} is compiled once on its platforms: ${times}`);
  }
  t.match(textOf('CMakeLists.txt'), 'native/sources.json');
  t.match(textOf('binding.gyp'), 'scripts/sources.mjs');
});

testMany('files that are compiled together have each source once, of one folder', async (t) => {
  const env = { ...process.env, HOSTWIRE_UNITY: 'ON' };
  const listed = (...options: readonly string[]) => {
    const args = ['scripts/sources.mjs', 'linux', ...options];
    return execFileSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' }).trim().split('\n');
  };
  const included = listed().map((file) =>
    [...textOf(file).matchAll(/^#include "(.+)"$/gm)].map(([, name = '']) =>
      path.posix.join(path.posix.dirname(file), name),
    ),
  );
  t.strictSame(included.flat().sort(), listed('--single').sort());
  for (const sources of included) {
    t.equal(new Set(sources.map((source) => path.posix.dirname(source))).size, 1, sources.join(' '));
    t.ok(sources.length <= 12, sources.join(' '));
  }
  t.match(textOf('CMakeLists.txt'), '/ 12');
});

testMany('files open with what they are for, and stay readable', async (t) => {
  for (const file of sources) t.match(textOf(file), /^(?:#!.*\n)?\/\*\*/, `${file} opens with a sentence`);
  for (const file of native) t.match(textOf(file), /^\/\//, `${file} opens with a sentence`);
  for (const file of [...sources, ...native]) {
    const lines = textOf(file).split('\n').length;
    t.ok(lines <= 400, `${file} has ${lines} lines`);
  }
});

testMany('no class of the addon is split over two files', async (t) => {
  const filesOf = new Map<string, Set<string>>();
  // A definition begins a line; a platform may have classes of the same name.
  for (const file of native.filter((name) => name.endsWith('.cc')))
    for (const [, name] of textOf(file).matchAll(
      /^\w(?:[^\n(]* [*&]*)??((?:[A-Z]\w*::)+)~?\w+\([^;]*?\{$/gm,
    )) {
      const key = `${file.split('/')[1]} ${name}`;
      filesOf.set(key, (filesOf.get(key) ?? new Set()).add(file));
    }
  t.ok(filesOf.size > 50, `${filesOf.size} classes`);
  for (const [name, files] of filesOf) t.equal(files.size, 1, `${name} ${[...files].join(' ')}`);
});

testMany('strict TypeScript', async (t) => {
  for (const file of sources) {
    const text = codeOf(file);
    t.notMatch(text, /:\s*any\b|<any>|\bas any\b/, `${file} has no any`);
    t.notMatch(text, /^\s*(?:export )?(?:const )?(?:enum|namespace) \w/m, `${file} has no enum or namespace`);
    // TypeScript reports no excess property in it.
    t.notMatch(text, /\.\.\.\{/, `${file} spreads no literal`);
  }
});

/** Loops that a signal ends, or that run in a page or a program which the test ends. */
const MAY_WAIT = [
  'test/siege/target.ts',
  'test/browser/attack/rows-workers.ts',
  'test/native/system/mounts.test.ts',
  'test/native/system/sealed-mounts.test.ts',
];

testMany('tests wait for a condition with a limit, so that they fail instead of hanging', async (t) => {
  for (const file of filesIn('test', '.ts').filter((name) => !MAY_WAIT.includes(name)))
    t.notMatch(
      codeOf(file),
      /^ *while \((?!.*performance\.now).*\) await (?:sleep|pause|new Promise)\(/m,
      `${file} uses until()`,
    );
});
