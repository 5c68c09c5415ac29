/** Real reverse proxies: how each one is started, and what its block in docs/operating.md needs around it. */
import { existsSync } from 'node:fs';

export interface Places {
  /** A folder of the proxy's own, which it may write to. */
  readonly folder: string;
  readonly port: number;
  readonly scheme: 'http' | 'https';
  /** The paths of two PEM files, and of one that has both. */
  readonly cert: string;
  readonly key: string;
  readonly both: string;
}

type Replacement = readonly [text: string, by: string];

export interface ProxyProgram {
  /** The language of its blocks in docs/operating.md. */
  readonly name: 'nginx' | 'apache' | 'caddy' | 'haproxy';
  readonly path: string;
  /** The Debian package. */
  readonly needs: string;
  readonly argsFor: (file: string, places: Places) => readonly string[];
  /** Ports and names of the block, and what stands for them in a test. */
  readonly replacements: (places: Places) => readonly Replacement[];
  /** A whole configuration file with `block` in it. */
  readonly frame: (block: string, places: Places) => string;
}

const PEMS = ({ cert, key }: Places): readonly Replacement[] => [
  ['/etc/ssl/certs/pc.example.org.pem', cert],
  ['/etc/ssl/private/pc.example.org.key', key],
];

const NGINX: ProxyProgram = {
  name: 'nginx',
  path: '/usr/sbin/nginx',
  needs: 'nginx',
  argsFor: (file, { folder }) => ['-p', folder, '-e', 'stderr', '-c', file, '-g', 'daemon off;'],
  replacements: (places) => [
    ...PEMS(places),
    ['listen 443 ssl;', `listen 127.0.0.1:${places.port}${places.scheme === 'https' ? ' ssl' : ''};`],
  ],
  frame: (block) => `pid nginx.pid;
events {}
http {
  access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${name};`).join('\n')}
${block}}
`,
};

const APACHE_MODULES = [
  ...['mpm_event', 'authz_core', 'ssl', 'socache_shmcb', 'headers', 'alias'],
  ...['proxy', 'proxy_http', 'proxy_wstunnel'],
];

const APACHE: ProxyProgram = {
  name: 'apache',
  path: '/usr/sbin/apache2',
  needs: 'apache2-bin',
  argsFor: (file, { folder }) => ['-d', folder, '-f', file, '-DFOREGROUND'],
  replacements: (places) => [
    ...PEMS(places),
    ['*:443', `127.0.0.1:${places.port}`],
    ['SSLEngine on', places.scheme === 'https' ? 'SSLEngine on' : 'SSLEngine off'],
  ],
  frame: (block, { folder, port }) => `${APACHE_MODULES.map(
    (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
  ).join('\n')}
ServerName localhost
Listen 127.0.0.1:${port}
DefaultRuntimeDir ${folder}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
Mutex file:${folder} default
StartServers 1
${block}`,
};

const CADDY: ProxyProgram = {
  name: 'caddy',
  path: '/usr/bin/caddy',
  needs: 'caddy',
  argsFor: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  replacements: ({ port, scheme }) => [['pc.example.org {', `${scheme}://pc.example.org:${port} {`]],
  frame: (block, { folder }) => `{
  admin off
  local_certs
  skip_install_trust
  auto_https disable_redirects
  default_bind 127.0.0.1
  storage file_system ${folder}
}
${block}`,
};

const HAPROXY: ProxyProgram = {
  name: 'haproxy',
  path: '/usr/sbin/haproxy',
  needs: 'haproxy',
  argsFor: (file) => ['-db', '-f', file],
  replacements: ({ port, scheme, both }) => [
    [
      'bind :443 ssl crt /etc/haproxy/pc.example.org.pem',
      `bind 127.0.0.1:${port}${scheme === 'https' ? ` ssl crt ${both}` : ''}`,
    ],
  ],
  frame: (block) => block,
};

export const PROGRAMS: readonly ProxyProgram[] = [NGINX, APACHE, CADDY, HAPROXY];

export function programNamed(name: ProxyProgram['name']): ProxyProgram {
  const found = PROGRAMS.find((program) => program.name === name);
  if (found === undefined) throw new Error(`no proxy is called ${name}`);
  return found;
}

/** Why a proxy cannot be run here; false where it can. */
export const skipProxy = ({ path, needs }: ProxyProgram) =>
  !existsSync(path) && `apt-get install ${needs} (missing: ${path})`;
