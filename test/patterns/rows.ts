/**
 * Every regular expression of the sources: where it is, whose bytes it sees, and a hostile subject for it. One that only the
 * owner of the machine, a build or the program itself reaches has none.
 */
import type { Hostile } from './judge.ts';

/**
 * `client`: HTTP and WebSockets; `agent`: what a hub receives from machines; `hub`: what an agent receives from hubs;
 * `broker`: what others publish; `server`: the service that a client or `hostwire top` reads; `machine`: names that
 * devices, programs and the kernel give.
 */
export type Peer = 'client' | 'agent' | 'hub' | 'broker' | 'server' | 'machine';
/** `owner`: configuration, arguments, environment, own files; `self`: texts of the program and of Node. */
export type Insider = 'owner' | 'build' | 'self';

export interface Row {
  /** Within the repository. */
  readonly file: string;
  readonly by: Peer | Insider;
  readonly pattern: RegExp;
  /** The expression that makes the pattern, where that is not a literal. */
  readonly made?: string;
  /** undefined: no peer reaches it. */
  readonly hostile: Hostile | undefined;
}

/** `length` times `part`, with what leads to it and what follows. */
const run =
  (part: string, after = '', before = ''): Hostile =>
  (length) =>
    before + part.repeat(Math.ceil(length / part.length)) + after;

const reached = (by: Peer, file: string, pattern: RegExp, hostile: Hostile): Row => ({
  file,
  by,
  pattern,
  hostile,
});
const inside = (by: Insider, file: string, ...patterns: readonly RegExp[]): readonly Row[] =>
  patterns.map((pattern) => ({ file, by, pattern, hostile: undefined }));

const LINE = '\u2028x';
const CONTROL = '\x01';

const REACHED: readonly Row[] = [
  reached('client', 'src/access/addresses.ts', /^[\d.]+$/, run('1', 'x')),
  reached('client', 'src/access/addresses.ts', /^[\da-f:.]+$/i, run('a:', 'x')),
  reached(
    'client',
    'src/access/client.ts',
    /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/,
    run('1.', 'x'),
  ),
  {
    ...reached('client', 'src/access/decide.ts', /^\/hosts\/[^/]+\/$/, run('a', '//', '/hosts/')),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    made: "new RegExp(`^${page.replaceAll('*', '[^/]+')}$`)",
  },
  reached('client', 'src/access/hosts.ts', /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{0,5}))?$/, run('a', '::')),
  reached('client', 'src/access/hosts.ts', /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/, run('a.', '!')),
  reached('client', 'src/access/hosts.ts', /\.$/, run('.', 'x')),
  reached('client', 'src/access/hosts.ts', /^\[([^%]+)(?:%[a-z0-9._~%-]+)?\]$/i, run('%', '!', '[a')),
  reached('client', 'src/access/hosts.ts', /^([^.]+)\.[^.]+\.ts\.net$/, run('a', '.ts.nex')),
  reached('client', 'src/access/key.ts', /^bearer +([^ ].*)$/is, run(' ', LINE, 'Bearer')),
  reached(
    'client',
    'src/access/origins.ts',
    /^([a-z][a-z0-9+.-]*):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i,
    run('a', ':x', 'a://'),
  ),
  reached('client', 'src/access/origins.ts', /^(https?):/, run('https')),
  reached(
    'client',
    'src/fairness/address-counts.ts',
    /^[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?:%|$)/i,
    run('a:', '!'),
  ),
  reached('client', 'src/fairness/address-counts.ts', /^[0:]{2,34}:ffff:/i, run('0:', 'fffe')),
  reached('client', 'src/http/body.ts', /^\d+$/, run('1', 'x')),
  reached('client', 'src/http/body.ts', /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, run('A', LINE)),
  reached('client', 'src/viewers/pages/pages.ts', /^q=0(?:\.0*)?$/, run('0', 'x', 'q=0.')),
  reached('client', 'src/viewers/routes/request-routes.ts', /^\d{1,10}$/, run('1', 'x')),
  reached('client', 'src/http/etag.ts', /^W\//, run('W/')),
  reached('client', 'src/http/head.ts', /[\0\r\n]/, run('x')),
  reached('client', 'src/http/head.ts', /(?:^|,)\s*close\s*(?:,|$)/i, run(' ', 'x', ',close')),
  reached('client', 'src/http/node/head.ts', /^https?:\/\/([^/?#]*)(.*)$/is, run('a', '/\n', 'http://')),
  reached('machine', 'src/http/node/head.ts', /%.*$/s, run('%', '\n')),
  reached('client', 'src/http/head.ts', /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, run('A', LINE)),
  reached('client', 'src/http/head.ts', /^[\t\x20-\x7e\x80-\xff]*$/, run(' ', LINE)),
  reached('client', 'src/http/upgrade.ts', /^[+/0-9A-Za-z]{22}==$/, run('A', '==')),
  reached('client', 'src/machine/query.ts', /^-?\d+(\.\d+)?$/, run('1', '.', '1.')),
  reached('agent', 'src/viewers/socket/messages.ts', /\.$/, run('.', 'x')),
  reached('agent', 'src/agent/reporter/command-request.ts', /\.$/, run('.', 'x')),
  reached('client', 'src/log/format.ts', /[\s"=]|^$/u, run('x')),
  reached('client', 'src/log/limit.ts', /^[a-z]+(?=:)/, run('a', '!')),
  reached('client', 'src/stats/view.ts', /^[A-Za-z0-9_.-]{1,32}$/, run('a', '!')),
  reached('client', 'src/wire/hub-socket.ts', /^[A-Za-z0-9_-]{1,64}$/, run('a', '!')),
  reached('agent', 'src/agent/remote/sample.ts', /"\s*:/g, run('" ')),
  reached('client', 'src/agent/remote/calls.ts', /^[a-z]+\.[a-z_]{1,64}$/, run('a', '!')),
  reached('client', 'src/hub/commands/command-gateway.ts', /^[a-z_]{1,32}$/, run('a', '!')),
  reached('client', 'src/machine/requests.ts', /^[a-z_]{1,64}$/, run('a', '!')),
  reached('agent', 'src/agent/protocol/proof.ts', /^[A-Za-z0-9_-]{1,64}$/, run('a', '!')),
  reached('agent', 'src/agent/protocol/proof.ts', /^[\x21-\x7e]{1,64}$/, run('a', ' ')),
  reached('agent', 'src/agent/protocol/proof.ts', /^[A-Za-z0-9_-]{43}$/, run('a', '!')),
  reached('agent', 'src/agent/protocol/feedback.ts', /"id":"([A-Za-z0-9_-]{1,128})"/, run('"id":"a', '!')),
  reached('agent', 'src/agent/protocol/feedback.ts', /^image\/(?:png|jpeg|gif|webp)$/, run('image/png')),
  reached('agent', 'src/agent/protocol/feedback.ts', /^"[\x21\x23-\x7e]{1,128}"$/, run('a', '!', '"')),
  reached('agent', 'src/agent/protocol/sample-lines.ts', /^[\x21-\x7e]{1,64}$/, run('a', ' ')),
  reached('agent', 'src/agent/protocol/status.ts', /^[\x21-\x7e]{1,64}$/, run('a', ' ')),
  reached('agent', 'src/agent/protocol/status.ts', /^[!-~]{1,253}$/, run('a', ' ')),
  reached('agent', 'src/agent/protocol/status.ts', /^[A-Za-z0-9_-]{1,64}$/, run('a', '!')),
  reached('agent', 'src/agent/protocol/status.ts', /^[^\p{C}]{1,64}$/u, run('a', CONTROL)),
  reached('agent', 'src/agent/protocol/agent-topics.ts', /^[A-Za-z0-9_-]{1,64}$/, run('a', '!')),
  reached('hub', 'src/agent/reporter/hub-request.ts', /^[\x21-\x7e]{1,64}$/, run('a', ' ')),
  reached('hub', 'src/agent/reporter/interest.ts', /^[A-Za-z0-9_-]{1,64}$/, run('a', '!')),
  reached(
    'machine',
    'src/commands/media-addresses.ts',
    /^file:(?:\/\/(?:localhost)?)?(?=\/(?!\/))/i,
    run('/', '', 'file:'),
  ),
  reached('machine', 'src/commands/media-addresses.ts', /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, run('a', ':/')),
  reached('machine', 'src/commands/media-addresses.ts', /(?:%(?!2f|00)[\da-f]{2})+/gi, run('%41', '%')),
  reached(
    'machine',
    'src/commands/media-addresses.ts',
    /(?<=.)\.(?=\d*[a-z])[a-z\d]{2,5}$/i,
    run('.1a', '!'),
  ),
  reached('machine', 'src/commands/media-addresses.ts', /[?#]/, run('a')),
  reached('machine', 'src/commands/media-addresses.ts', /%2f/gi, run('%2')),
  reached('machine', 'src/commands/media-status.ts', /\.instance[-_\d]*$/, run('.instance1', '!')),
  reached('broker', 'src/exporters/mqtt/discovery/document.ts', /^(?:media|power|watch)_/, run('media')),
  reached('broker', 'src/exporters/mqtt/discovery/document.ts', /^[a-z0-9_]{1,80}$/, run('a', '!')),
  reached('machine', 'src/exporters/mqtt/discovery/document.ts', /^(?:00:){5}00$/, run('00:', '00')),
  reached('machine', 'src/exporters/mqtt/discovery/ids.ts', /^[a-z0-9]{1,24}$/, run('a', '!')),
  reached('machine', 'src/exporters/mqtt/discovery/ids.ts', /[^a-z0-9]+/g, run('_')),
  reached('machine', 'src/exporters/mqtt/discovery/ids.ts', /^_+|(?<!_)_+$/g, run('_', 'x', 'x')),
  reached('machine', 'src/exporters/mqtt/discovery/things.ts', /\p{C}+/gu, run('\x01x')),
  reached('machine', 'src/exporters/prometheus/devices.ts', /[^a-z0-9:_]/g, run('/')),
  reached('machine', 'src/exporters/prometheus/devices.ts', /^_+|(?<!_)_+$/g, run('_', 'x', 'x')),
  reached('machine', 'src/exporters/prometheus/exposition.ts', /[\\"\n]|\p{Cs}/gu, run('\\')),
  reached(
    'machine',
    'src/exporters/prometheus/exposition.ts',
    /^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/,
    run(' ', '\n# TYPE a b\n', '# HELP a '),
  ),
  reached(
    'machine',
    'web/cards/media.tsx',
    /^data:image\/(?:png|jpeg|gif|webp);base64,/,
    run('a', '', 'data:image/png;base64'),
  ),
  reached('server', 'src/cli/top/text.ts', /^[ -~]*$/, run(' ', LINE)),
  reached(
    'server',
    'src/cli/top/text.ts',
    /[\p{Cf}\p{Variation_Selector}\p{Emoji_Modifier}]|(?<=\p{M})\p{M}/gu,
    run('\u0301'),
  ),
  reached('server', 'src/cli/top/text.ts', /\p{RI}/gu, run('\u{1f1e6}')),
  reached('server', 'src/cli/top/text.ts', /\p{C}/gu, run('\u2028')),
  reached(
    'server',
    'src/cli/top/text.ts',
    /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18AFF}\u{1B000}-\u{1B2FF}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]/u,
    run('a'),
  ),
  reached('server', 'src/cli/top/text.ts', /[\p{Mn}\p{Me}\u1160-\u11FF]/u, run('a')),
  reached('server', 'src/clean.ts', /[\p{Cc}\p{Cs}\p{Bidi_C}\u2028\u2029]/gu, run('\u2028')),
  reached('server', 'src/clean.ts', /[\x7f-\x9f\p{Bidi_C}\u2028\u2029]/gu, run('\u2028')),
  reached('server', 'src/client/errors.ts', /^\w{1,64}$/, run('a', '!')),
  reached('server', 'src/client/event-parser.ts', /[\r\n]/g, run('\r')),
  reached('server', 'src/client/event-parser.ts', /^\d{1,9}$/, run('1', 'x')),
  reached('server', 'src/client/refusals.ts', /^\d+$/, run('1', 'x')),
];

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const INSIDE: readonly Row[] = [
  ...inside('owner', 'src/access/addresses.ts', /^(?:0|[1-9]\d{0,2})$/),
  ...inside(
    'owner',
    'src/access/expiry.ts',
    /^(\d{4})-(\d{2})-(\d{2})$/,
    /^(\d{4}-\d{2}-\d{2})[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/,
  ),
  ...inside('owner', 'src/access/key.ts', /^sha256\/([A-Za-z0-9+/]{43}=)$/),
  ...inside('owner', 'src/access/key-list.ts', /^$|\*|\/0\b/),
  ...inside('owner', 'src/cli/keys/keys.ts', /^\s*["']?keys_folder["']?\s*:\s*["']?([^"'#,}\r\n]+)/mu),
  ...inside(
    'owner',
    'src/config/checks/effects.ts',
    /^(?:cpu\.(?:load|core)|\w+\.\w+_percent|disk\.busy|gpu\.load|battery\.charge)(?:\/|$)/u,
  ),
  ...inside('owner', 'src/config/checks/findings.ts', /\[\d+\]$/u),
  ...inside('owner', 'src/config/load.ts', /:\d+$/u),
  ...inside('owner', 'src/cli/arguments.ts', /^\d{1,6}$/u, /, ([^,]+)$/),
  ...inside('owner', 'src/cli/keys/device-link.ts', /\/*$/),
  ...inside(
    'owner',
    'src/cli/pair-words.ts',
    /^(\d{1,4})([hdw])$/,
    /^[A-Za-z0-9_-]{1,64}$/,
    /^https?:$/,
    /\.\d+Z$/,
  ),
  ...inside('owner', 'src/cli/terminal.ts', /utf-?8/i),
  ...inside(
    'owner',
    'src/cli/target.ts',
    /^sha256\/[\w+/]{43}=$/u,
    /^https:/iu,
    /:\d+$/u,
    /^https?:$/u,
    /\/$/u,
    /\r?\n$/u,
  ),
  ...inside('owner', 'src/cli/top/keys.ts', /^[^\p{C}]+$/u),
  ...inside('owner', 'src/cli/top/top.ts', /^[1-9]\d{0,3}$/),
  ...inside('self', 'src/client/connection.ts', /^WS_ERR_(?:UNSUPPORTED_MESSAGE|TOO_MANY)/),
  ...inside('owner', 'src/client/hub.ts', /^\/+/),
  ...inside('owner', 'src/client/pin.ts', /^sha256\/[\w+/]{43}=$/),
  ...inside('owner', 'src/client/pinned.ts', /^[\d.]+$|:/, /^\[|\]$/g),
  ...inside('owner', 'src/client/refusals.ts', /^\/*/, /\/*$/),
  ...inside(
    'owner',
    'src/config/checks/between-keys.ts',
    /^(?:mqtt|ws):\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/u,
  ),
  ...inside('owner', 'src/config/checks/check-tree.ts', /^\$\{\w+(?:\W[^}]*)?\}$/u, /^\w+ ?[:=]/u),
  ...inside('owner', 'src/config/rows/hub-rows.ts', /^sha256\/[A-Za-z0-9+/]{43}=$/u),
  ...inside('owner', 'src/config/rows/list-items.ts', /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/iu),
  ...inside('owner', 'src/config/rows/mqtt-rows.ts', /^[^\s\p{C}](?:[^\p{C}]{0,254}[^\s\p{C}])?$/u),
  ...inside(
    'owner',
    'src/config/rows/predicates.ts',
    /[\0\r\n]|-----BEGIN/u,
    /^[!-~](?:[ -~]*[!-~])?$/u,
    /^[0-9.]*$/u,
    /^https?:/u,
    /^http(s?):/u,
  ),
  ...inside(
    'owner',
    'src/config/rows/predicates.ts',
    /^(?!-)(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{0,62}[A-Za-z0-9_]\.?$/u,
  ),
  ...inside(
    'owner',
    'src/config/rows/predicates.ts',
    /^mqtts?:\/\/(\[[^\]]+\]|[^:/?#@[\]]+)(?::(\d{1,5}))?\/?$/u,
  ),
  ...inside(
    'owner',
    'src/config/rows/predicates.ts',
    /^ws(s?):\/\/([^/]+)(\/.*)?$/u,
    /^(?:\/[A-Za-z0-9._~-]+)*\/?$/u,
  ),
  ...inside(
    'owner',
    'src/config/rows/predicates.ts',
    /^[A-Za-z0-9_-]{1,64}$/u,
    /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u,
  ),
  ...inside(
    'owner',
    'src/config/rows/predicates.ts',
    /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/u,
    /^[A-Za-z0-9_.-]{1,64}$/u,
    /^[A-Za-z_][A-Za-z0-9_]*$/u,
  ),
  ...inside(
    'owner',
    'src/config/sources/named-files.ts',
    /\r?\n$/u,
    /^[\w .~:/\\-]*\.[A-Za-z]{2,8}$/u,
    /^[/\\]*[^/\\]+/u,
  ),
  ...inside(
    'owner',
    'src/config/sources/parse-json.ts',
    /[ \t\n\r]*/uy,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as in the source
    /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y,
  ),
  ...inside(
    'owner',
    'src/config/sources/parse-json.ts',
    /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/uy,
    /(?:true|false|null)/uy,
    /^(?:\/[/*]|#)/u,
  ),
  ...inside(
    'owner',
    'src/config/sources/parse-yaml.ts',
    /(?<=characters): .*$/su,
    /"[\s\S]*"/gu,
    /\r\n|\r|\n/u,
  ),
  ...inside(
    'owner',
    'src/config/sources/parse-yaml.ts',
    /^([ \t]*)["']?(\w+)["']?[ \t]*:/u,
    /^(?:---|\.\.\.)/gmu,
  ),
  ...inside('owner', 'src/config/sources/tree.ts', /\r\n|\r|\n/gu),
  ...inside(
    'owner',
    'src/config/sources/variables.ts',
    /^-?\d+(?:\.\d+)?$/u,
    /^HOSTWIRE_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/u,
    /^(?:tcp|udp|sctp):\/\//u,
  ),
  ...inside('owner', 'src/config/sources/yaml-errors.ts', /\r\n|\r|\n/u, /[^\w."'-]/u),
  ...inside('owner', 'src/agent/transports/websocket/web-socket.ts', /\/+$/),
  ...inside('owner', 'src/identity.ts', /^[0-9a-f]{32}$/),
  ...inside('owner', 'src/url-host.ts', /^\[(.*)\]$/),
  ...inside('owner', 'src/exporters/mqtt/session.ts', /^(?:localhost|127\.|::1$)/),
  ...inside('owner', 'src/host/names.ts', /\s+/),
  ...inside('owner', 'src/agent/transports/mqtt/broker.ts', NAME),
  ...inside('owner', 'src/hub/service.ts', /[^A-Za-z0-9_-]/g),
  ...inside(
    'owner',
    'src/tls/certificate.ts',
    /-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END \1?CERTIFICATE-----/gu,
    /(?:DNS|IP Address):([^",\s]+)/gu,
  ),
  ...inside(
    'owner',
    'src/wake/packet.ts',
    /^[0-9a-f]{2}([:-]?)[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}$/iu,
    /[:-]/gu,
    /^0+$/u,
    /../gu,
  ),
  ...inside('owner', 'web/fleet/choice.ts', /^-/),
  ...inside('owner', 'web/requests.ts', /^#key=([\w.~-]{1,1024})$/),
  ...inside('self', 'src/socket-errors.ts', /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/),
  ...inside('self', 'src/host/native.ts', /version [`'"]?GLIBC_([\d.]+)'? not found/),
  ...inside('self', 'web/format.ts', /\.0+ /),
  ...inside('build', 'src/api/operations.ts', /\*$/),
  ...inside('build', 'src/api/page.ts', /[^\w -]/g, /[?&]/),
  ...inside('build', 'src/api/schemas.ts', /"\$ref":"#\/components\/schemas\/(\w+)"/g),
  ...inside('build', 'src/cli/share/generate.ts', /\d{4}-\d\d-\d\d/),
  ...inside(
    'build',
    'src/cli/share/man.ts',
    /[\\'~^`]|(?<!\w)-+|[^\n -~]/g,
    /(?<=\.) (?=[A-Z])/,
    /^(?=\.)/gm,
  ),
  ...inside('build', 'src/cli/version.ts', /^([0-9a-f]{40}) (\d{4}-\d\d-\d\d)( changed)?\n$/),
];

export const ROWS: readonly Row[] = [...REACHED, ...INSIDE];
