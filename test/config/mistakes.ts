/** Mistakes in configurations, each with all that is needed to repeat it; mistakes.md is their table. */
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { LoadOptions } from '#src/config/load.js';
import type { TestPair } from '../helpers/certificates.ts';
import type { Files } from './loading.ts';

export interface Mistake {
  /** A sentence part, in Markdown. */
  readonly name: string;
  readonly files?: Files;
  readonly variables?: Readonly<Record<string, string>>;
  /** Paths given with --config. */
  readonly paths?: readonly string[];
  readonly role?: LoadOptions['role'];
  readonly hasSqlite?: boolean;
  readonly overrides?: LoadOptions['overrides'];
  /** The files are in the working folder instead of the user's. */
  readonly isInWorkingFolder?: true;
  /** Called when the files are written. */
  readonly prepare?: (folder: string) => void;
  /** The permissions of files are judged. */
  readonly hasUser?: true;
}

export interface Section {
  readonly title: string;
  readonly mistakes: readonly Mistake[];
}

const KEY = 'k'.repeat(40);
const SHORT = 'abc';
const SERVICE = '10.0.0.1';

const yaml = (name: string, text: string, more: Partial<Mistake> = {}): Mistake => ({
  name,
  files: { 'config.yaml': text },
  ...more,
});
const json = (name: string, text: string): Mistake => ({ name, files: { 'config.json': text } });
const variable = (name: string, value: string): Mistake => ({
  name: `\`${name}=${value}\``,
  variables: { [name]: value },
});
const withMode = (file: string, mode: number) => (folder: string) => chmodSync(path.join(folder, file), mode);
const tls = (name: string, pair: Pick<TestPair, 'cert' | 'key'>): Mistake => ({
  name,
  files: {
    'config.yaml': 'server:\n  tls:\n    cert: cert.pem\n    key: key.pem\n',
    'cert.pem': pair.cert,
    'key.pem': pair.key,
  },
});

/** `pair`, `other`: two pairs of certificate and key. */
export function listMistakes(pair: TestPair, other: TestPair): readonly Section[] {
  return [
    {
      title: 'Access',
      mistakes: [
        yaml('`auht` as the only section of `./config.yaml`', 'auht:\n  enabled: true\n  api_key: abc\n', {
          isInWorkingFolder: true,
        }),
        yaml('`auth.enabled` as one word in `./config.yaml`', 'auth.enabled: true\n', {
          isInWorkingFolder: true,
        }),
        yaml("another program's `./config.yaml`", 'database:\n  url: postgres://db\n', {
          isInWorkingFolder: true,
        }),
        yaml('`enabeld` under auth', 'auth:\n  enabeld: true\n'),
        yaml('an unknown key under auth', 'auth:\n  password: abc\n'),
        yaml('`api_key` under the wrong section', `server:\n  api_key: ${KEY}\n`),
        yaml('`authentication` as a section', `authentication:\n  api_key: ${KEY}\n`),
        yaml('`Auth` in capitals', 'Auth:\n  enabled: true\n'),
        yaml('auth without a key', 'auth:\n  enabled: true\n'),
        yaml(
          'auth without a key, with an allow list',
          `auth:\n  enabled: true\n  allowed_ips: ["${SERVICE}"]\n`,
        ),
        yaml('`enabled` without a value', 'auth:\n  enabled:\n'),
        yaml('`enabled: yes`', 'auth:\n  enabled: yes\n'),
        yaml('a key without `enabled`', `auth:\n  api_key: ${KEY}\n`),
        yaml('an allow list without `enabled`', `auth:\n  enabled: false\n  allowed_ips: ["${SERVICE}"]\n`),
        yaml('a short key', `auth:\n  enabled: true\n  api_key: ${SHORT}\n`),
        yaml('a key that is a number', 'auth:\n  api_key: 12345678901234567890\n'),
        yaml('a variable in place of the key', `auth:\n  api_key: "\${API_KEY}"\n`),
        yaml('a key and a file of the key', `auth:\n  api_key: ${KEY}\n  api_key_file: key\n`, {
          files: {
            'config.yaml': `auth:\n  api_key: ${KEY}\n  api_key_file: key\n`,
            key: KEY,
          },
        }),
        yaml('a file of the key that does not exist', 'auth:\n  enabled: true\n  api_key_file: gone.key\n'),
        {
          ...yaml('a file of the key that is empty', ''),
          files: { 'config.yaml': 'auth:\n  enabled: true\n  api_key_file: key\n', key: '' },
        },
        yaml('an allow list that is a text', 'auth:\n  allowed_ips: 10.0.0.1\n'),
        yaml('an address with five parts', 'auth:\n  blocked_ips: [10.0.0.1.2]\n'),
        yaml('a range with host bits', `auth:\n  blocked_ips: ["${SERVICE}/8"]\n`),
        yaml('`*` as a blocked address', 'auth:\n  blocked_ips: ["*"]\n'),
        yaml(
          'everybody in the allow list',
          `auth:\n  enabled: true\n  api_key: ${KEY}\n  allowed_ips: ["0.0.0.0/0"]\n`,
        ),
        yaml('an origin with a path', 'server:\n  cors_origins: ["https://example.org/app"]\n'),
        yaml('a host name with a port', 'server:\n  allowed_hosts: ["pc.example.org:9990"]\n'),
        yaml('a file with the key that others can read', `auth:\n  enabled: true\n  api_key: ${KEY}\n`, {
          prepare: withMode('config.yaml', 0o644),
        }),
        yaml('a file that others can write', 'log:\n  level: warn\n', {
          prepare: withMode('config.yaml', 0o666),
          hasUser: true,
        }),
      ],
    },
    {
      title: 'Environment variables',
      mistakes: [
        variable('HOSTWIRE_PORT', '8080'),
        variable('HOSTWIRE_API_KEY', 'abc'),
        variable('HOSTWIRE_SERVER_PROT', '8080'),
        variable('HOSTWIRE_AUHT_ENABLED', 'true'),
        variable('HOSTWIRE_AUTH', 'true'),
        variable('HOSTWIRE_AUTH_PASSWORD', 'abc'),
        variable('hostwire_server_port', '8080'),
        variable('HOSTWIRE_STATS_INTERVAL', '5'),
        variable('HOSTWIRE_SERVER_COLOUR', 'red'),
        variable('HOSTWIRE_COLOUR', 'red'),
        variable('HOSTWIRE_SERVER_PORT', 'eighty'),
        variable('HOSTWIRE_KEY', 'abc'),
        { name: '`HOSTWIRE_CONFIG` names a missing file', variables: { HOSTWIRE_CONFIG: 'gone.yaml' } },
      ],
    },
    {
      title: 'Keys and values',
      mistakes: [
        yaml('`interval` under stats', 'stats:\n  interval: 5\n'),
        yaml('`prot` under server', 'server:\n  prot: 8080\n'),
        yaml('`port` without a section', 'port: 8080\n'),
        yaml('`streamIntervalSeconds` in camel case', 'stats:\n  streamIntervalSeconds: 5\n'),
        yaml('an unknown section', 'theme:\n  dark: true\n'),
        yaml(
          'an unknown key of an app',
          'features: {enable_process_control: true}\nprocesses:\n  launch:\n    a: {command: /bin/sh, icon: a.png}\n',
        ),
        yaml('a port without a value', 'server:\n  port:\n'),
        yaml('a port beyond 65535', 'server:\n  port: 99900\n'),
        yaml('an interval below 1', 'stats:\n  stream_interval_seconds: 0.1\n'),
        yaml('a section that is a text', 'server: 9990\n'),
        json('a number in quotes', '{"server": {"port": "9990"}}\n'),
        yaml('a listen address with a port', 'server:\n  host: 127.0.0.1:9990\n'),
        yaml('a relative path', 'history:\n  path: history.db\n'),
        yaml('a level that does not exist', 'log:\n  level: verbose\n'),
        {
          name: 'one key in two files',
          files: { 'config.json': '{"log": {"level": "info"}}\n', 'config.yaml': 'log:\n  level: debug\n' },
        },
        yaml('one key twice', 'log:\n  level: info\nserver:\n  port: 9991\nlog:\n  format: json\n'),
        {
          name: '`--port 99999`',
          overrides: new Map([['server.port', { value: 99_999, option: '--port' }]]),
        },
      ],
    },
    {
      title: 'Settings without effect',
      mistakes: [
        yaml(
          'a watch rule on `cpu.laod`',
          'watch:\n  rules:\n    busy:\n      series: cpu.laod\n      above: 90\n',
        ),
        yaml(
          'a watch rule on `disk.used_percent`',
          'watch:\n  rules:\n    full: {series: disk.used_percent, above: 90}\n',
        ),
        yaml('a watch rule on `cpu.load/0`', 'watch:\n  rules:\n    busy: {series: cpu.load/0, above: 90}\n'),
        yaml('a watch rule on `cpu.temp`', 'watch:\n  rules:\n    hot: {series: cpu.temp, above: 90}\n'),
        yaml(
          'a watch rule on `battery.percent/*`',
          'watch:\n  rules:\n    low: {series: battery.percent/*, below: 10}\n',
        ),
        yaml('a watch rule without a limit', 'watch:\n  rules:\n    busy: {series: cpu.load}\n'),
        yaml(
          '`hostwire --config hub.yaml` without `hub`',
          'hub:\n  agents:\n    nas: http://nas.lan:9990\n',
          {
            role: 'service',
          },
        ),
        yaml('the same, with `hostwire check`', 'hub:\n  agents:\n    nas: http://nas.lan:9990\n'),
        yaml(
          '`hostwire hub` with the configuration of a service',
          'mqtt:\n  url: mqtts://broker.lan\nfeatures:\n  enable_restart: true\n',
          {
            role: 'hub',
          },
        ),
        yaml(
          '`history.path` with a Node without SQLite',
          'history:\n  path: /var/lib/hostwire/history.db\n',
          {
            hasSqlite: false,
          },
        ),
        yaml(
          'a launch command that does not exist',
          'features: {enable_process_control: true}\nprocesses:\n  launch:\n    tv: {command: /usr/bin/no-such-player}\n',
        ),
        yaml(
          'a launch command that is a folder',
          'features: {enable_process_control: true}\nprocesses:\n  launch:\n    tv: {command: /usr/bin}\n',
        ),
        yaml(
          'a working folder that does not exist',
          'features: {enable_process_control: true}\nprocesses:\n  launch:\n    tv: {command: /bin/sh, cwd: /no/such/folder}\n',
        ),
        yaml('machines to wake without the feature', 'wake:\n  hosts:\n    nas: "02:00:5e:10:00:00"\n'),
        yaml('an app without the feature', 'processes:\n  launch:\n    sh: {command: /bin/sh}\n'),
        yaml(
          'a rule of `hub.commands` for a key that does not exist',
          'hub:\n  agents:\n    nas: http://nas.lan:9990\n  commands:\n    tv: {commands: ["media.*"], keys: [phone]}\n',
          { role: 'hub' },
        ),
        yaml('MQTT without a broker', 'mqtt:\n  topic: home\n'),
        yaml('the size of a history without its file', 'history:\n  max_megabytes: 64\n'),
        yaml('an empty file', ''),
        yaml('a `ws://` URL of a hub', 'hub:\n  url: ws://hub.lan:9980\n  key_file: hub.key\n', {
          prepare: withMode('hub.key', 0o600),
          files: { 'config.yaml': 'hub:\n  url: ws://hub.lan:9980\n  key_file: hub.key\n', 'hub.key': KEY },
        }),
        yaml('a broker without TLS that gets a password', '', {
          files: {
            'config.yaml': 'mqtt:\n  url: mqtt://broker.lan\n  username: pc\n  password_file: broker.key\n',
            'broker.key': KEY,
          },
        }),
      ],
    },
    {
      title: 'Files that cannot be read',
      mistakes: [
        yaml('a missing indentation', 'server:\nport: 8080\n'),
        yaml('too much indentation', 'server:\n  port: 8080\n   host: 127.0.0.1\n'),
        yaml('an indentation that does not fit', 'server:\n    port: 8080\n  host: 127.0.0.1\n'),
        yaml('a tab', 'server:\n\tport: 8080\n'),
        yaml(
          'an unclosed `[`',
          'auth:\n  allowed_ips: ["10.0.0.1"\n  enabled: true\nserver:\n  port: 8080\n',
        ),
        yaml('an unclosed `{`', 'server: {port: 8080\nlog:\n  level: info\n'),
        yaml('an unclosed quotation mark', 'server:\n  host: "127.0.0.1\n  port: 8080\n'),
        yaml('a missing space after a colon', 'server:\n  port:8080\n'),
        yaml('an equals sign', 'server:\n  port = 8080\n'),
        yaml('an address in brackets without quotes', 'server:\n  host: [::1]\n'),
        yaml('an unquoted `*`', 'auth:\n  allowed_ips:\n    - *\n'),
        json('a comment in JSON', '{\n  // the port\n  "server": {"port": 8080}\n}\n'),
        json('a comma too many in JSON', '{\n  "server": {"port": 8080},\n}\n'),
        json('a missing bracket in JSON', '{\n  "server": {"port": 8080\n}\n'),
        { name: 'a text in Latin-1', files: { 'config.yaml': Buffer.from('# Büro\nlog:\n', 'latin1') } },
        { name: '`--config` names a missing file', paths: ['gone.yaml'] },
        {
          name: '`--config` names a folder',
          paths: ['folder.yaml'],
          prepare: (folder) => mkdirSync(path.join(folder, 'folder.yaml')),
        },
        {
          name: '`--config hostwire.conf`',
          paths: ['hostwire.conf'],
          files: { 'hostwire.conf': 'port=8080\n' },
        },
      ],
    },
    {
      title: 'TLS and other files',
      mistakes: [
        tls('certificate and key swapped', { cert: pair.key, key: pair.cert }),
        tls('a key of another certificate', { cert: pair.cert, key: other.key }),
        yaml('a certificate without a key', 'server:\n  tls:\n    cert: cert.pem\n', {
          files: { 'config.yaml': 'server:\n  tls:\n    cert: cert.pem\n', 'cert.pem': pair.cert },
        }),
        yaml('a certificate that does not exist', 'server:\n  tls:\n    cert: gone.pem\n    key: gone.pem\n'),
        {
          ...tls('a key that others can read', pair),
          prepare: withMode('key.pem', 0o644),
          hasUser: true,
        },
        yaml('the port of HTTPS is the port of HTTP', '', {
          files: {
            'config.yaml':
              'server:\n  port: 9990\n  tls:\n    cert: cert.pem\n    key: key.pem\n    port: 9990\n',
            'cert.pem': pair.cert,
            'key.pem': pair.key,
          },
        }),
        yaml('a CA file that does not exist', 'mqtt:\n  url: mqtts://broker.lan\n  ca: gone.pem\n'),
        yaml('a CA file that is a key', '', {
          files: { 'config.yaml': 'mqtt:\n  url: mqtts://broker.lan\n  ca: ca.pem\n', 'ca.pem': pair.key },
        }),
        yaml(
          'a password in place of its file',
          `mqtt:\n  url: mqtts://broker.lan\n  username: pc\n  password_file: ${KEY}\n`,
        ),
        yaml('a hub without the file of the key', 'hub:\n  url: wss://hub.lan\n'),
        yaml(
          'an agent with a key file that does not exist',
          'hub:\n  agents:\n    nas: {url: "http://nas.lan:9990", key_file: nas.key}\n',
        ),
      ],
    },
    {
      title: 'Files of the program whose interface this is',
      mistakes: [json('its sample configuration', ORIGIN_SAMPLE)],
    },
  ];
}

/** Every key of that program with its default. */
export const ORIGIN_SAMPLE = `${JSON.stringify(
  {
    server: { port: 9990, host: '0.0.0.0' },
    display: { hostname: '' },
    features: {
      enable_shutdown: false,
      enable_restart: false,
      enable_hibernate: true,
      enable_sleep: true,
      enable_system: true,
      enable_usage: true,
      enable_stats: true,
      enable_media: true,
      enable_processes: true,
      enable_stream: true,
      enable_autostart: true,
    },
    stats: { gpu_enabled: true, disk_cache_seconds: 30, stream_interval_seconds: 2 },
    auth: { enabled: false, api_key: null, allowed_ips: [], blocked_ips: [] },
    websocket: {
      stats: { enabled: true, interval_ms: 1000 },
      media: { enabled: true, interval_ms: 500 },
      processes: { enabled: true, interval_ms: 3000 },
    },
  },
  null,
  2,
)}\n`;
