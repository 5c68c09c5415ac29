/** Alarms that began hours ago and last: the page's list of the last hour has none of them. */

const HOURS_AGO = 3;
const DISK = '/srv/media';

/** The answer of `GET /api/events`, with an alarm for each of `severities`. */
export function openEvents(severities: readonly string[]) {
  const begin = Date.now() / 1000 - HOURS_AGO * 3600 - 90;
  const open = severities.map((severity, i) => ({
    id: i + 1,
    machine: 'workbench',
    kind: 'rule',
    subject: `disk-full disk.used_percent/${DISK}`,
    severity,
    state: 'begin',
    begin,
    end: null,
    value: 91,
    limit: 90,
    text: `Disk ${DISK} is 91 % full, limit 90 %`,
  }));
  return { last: 2, missing: false, open, mutes: [], events: [] };
}
