/** The rows that the configuration decides, or changes: capabilities, streams, mDNS and the certificate. */
import { isLoopback } from '../../access/exposure.ts';
import type { Config } from '../../config/config.ts';
import type { EngineName } from '../../engines.ts';
import type { Capability, Finding } from '../../host/finding.ts';
import { daysLeft, namesOf, pinOf, readCertificates, whyNotValid } from '../../tls/certificate.ts';
import { type Obstacle, partly, works } from './rows.ts';

export type SwitchConfig = Pick<Config, 'features' | 'power' | 'discovery'>;

type Feature = keyof Config['features'];

/** The switch of each row that has one. */
const FEATURES: ReadonlyMap<string, Feature> = new Map([
  ['process-control', 'enable_process_control'],
  ['shutdown', 'enable_shutdown'],
  ['restart', 'enable_restart'],
  ['sleep', 'enable_sleep'],
  ['hibernate', 'enable_hibernate'],
  ['lock', 'enable_sleep'],
]);

const turnOn = (feature: Feature): Obstacle => ({
  reason: `features.${feature} is off`,
  remedy: `set features.${feature} to true`,
});

/** A row for each capability that must not be asked. */
export function findSwitchedOff({
  features,
  power,
  discovery,
}: SwitchConfig): ReadonlyMap<Capability, Finding> {
  const off = new Map<Capability, Finding>();
  if (!features.enable_processes)
    off.set('processes', partly('processes', 'switched off', turnOn('enable_processes')));
  if (power.backend === 'record')
    off.set(
      'power',
      partly('power', 'power.backend is record', {
        reason: 'actions are recorded, not carried out',
        remedy: 'set power.backend to system',
      }),
    );
  if (!features.enable_media) off.set('media', partly('media', 'switched off', turnOn('enable_media')));
  if (!discovery.mdns) off.set('discovery', works('mdns', 'off: discovery.mdns is false'));
  return off;
}

/** Returns `finding`, or a row that its switch is off: a possible action may still be switched off. */
export function judgeSwitch(finding: Finding, { features }: SwitchConfig): Finding {
  const feature = FEATURES.get(finding.subject);
  if (feature === undefined || finding.status !== 'works' || features[feature]) return finding;
  return partly(finding.subject, finding.source, turnOn(feature));
}

const ENCRYPTED = {
  reason: 'Node encrypts TLS connections, at several times the CPU time and memory per subscriber',
  remedy: 'for more than about 50 subscribers, terminate TLS at a reverse proxy',
} satisfies Obstacle;

const UNFINISHED = {
  reason: "the line break after an event's chunk is sent with the next event",
  remedy: 'set server.engine to auto or node',
} satisfies Obstacle;

/** `native`: the row of the addon, for plain HTTP; `hasWriter`: it sends the events, whichever the engine is. Pure. */
export function judgeStreams(
  native: Finding,
  { engine, hasWriter }: { readonly engine: EngineName | undefined; readonly hasWriter: boolean },
  { tls }: Pick<Config['server'], 'tls'>,
): Finding {
  const { subject } = native;
  const plain = engine === 'uws' && !hasWriter ? partly(subject, 'uWebSockets.js', UNFINISHED) : native;
  if (tls.cert === undefined) return plain;
  if (tls.port === undefined) return partly(subject, "Node's sockets", ENCRYPTED);
  const { source, reason, remedy } = plain;
  return partly(subject, `${source}; Node's sockets for TLS`, {
    reason: reason === null ? ENCRYPTED.reason : `${reason}; ${ENCRYPTED.reason}`,
    remedy: remedy === null ? ENCRYPTED.remedy : `${remedy}; ${ENCRYPTED.remedy}`,
  });
}

/** `native`: the row of the addon, on the responder. Pure. */
export function judgeMdns(native: Finding, { host }: Pick<Config['server'], 'host'>): Finding {
  if (native.status !== 'works' || !isLoopback(host)) return native;
  return partly(native.subject, native.source, {
    reason: `off: the service listens only on ${host}`,
    remedy: 'set server.host to "::" or to an address of the network, or discovery.mdns to false',
  });
}

/** No row without TLS. The configuration has a pair only if it can be used. */
export function judgeCertificate({ server }: Pick<Config, 'server'>, now: number): readonly Finding[] {
  const [certificate] = readCertificates(server.tls.cert?.pem ?? '');
  if (certificate === undefined || certificate instanceof Error) return [];
  const days = Math.max(0, daysLeft(certificate, now));
  const names = namesOf(certificate).join(', ') || 'no name';
  const source = `for ${names}; ${days} days left; pin ${pinOf(certificate)}`;
  const reason = whyNotValid(certificate, now);
  if (reason === undefined) return [works('certificate', source)];
  const remedy =
    'renew it (a new pair is loaded without a restart); "hostwire keygen --tls" creates a self-signed one';
  return [partly('certificate', source, { reason, remedy })];
}
