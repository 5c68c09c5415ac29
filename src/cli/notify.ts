/** `hostwire notify`: sends a test to the targets of the configuration; mutes rules and machines of the running service. */
import os from 'node:os';
import { quote } from '../clean.ts';
import { type LoadOptions, loadConfig } from '../config/load.ts';
import { messageOf as reasonOf } from '../errors.ts';
import { TEXTS } from '../fairness/limits.ts';
import { testMessage } from '../notify/message.ts';
import { deliver, judge, type TargetOptions } from '../notify/target.ts';
import type { MuteList } from '../wire/events.ts';
import { askService } from './ask-service.ts';
import { secondsOf } from './notify-words.ts';
import { inLine, type Output, tableOf } from './output.ts';

/** `name`: of one target; undefined: all. Exit code 1 where one does not accept it. Throws if the configuration is invalid. */
export async function testTargets(name: string | undefined, options: LoadOptions): Promise<Output> {
  const { notify, host } = loadConfig(options).config;
  const names = Object.keys(notify.targets);
  const known = names.length === 0 ? 'it names none' : `it names ${names.join(', ')}`;
  if (names.length === 0 || (name !== undefined && !names.includes(name))) {
    const what = name === undefined ? 'there is no target' : `${quote(name)} is not a target`;
    return { text: `${what} in notify.targets of the configuration: ${known}\n`, exitCode: 1 };
  }
  const lines: string[] = [];
  let exitCode = 0;
  for (const [each, entry] of Object.entries(notify.targets)) {
    if (name !== undefined && each !== name) continue;
    const target = { name: each, entry, link: () => undefined, unixMs: Date.now };
    const { isAccepted, text } = await testOne(target, host.name ?? os.hostname());
    if (!isAccepted) exitCode = 1;
    lines.push(`${each}: ${inLine(text)}\n`);
  }
  return { text: lines.join(''), exitCode };
}

async function testOne(target: TargetOptions, hostname: string) {
  try {
    const message = testMessage(hostname, Math.floor(Date.now() / 1000));
    const answer = await deliver(message, target, new AbortController().signal);
    const outcome = judge(answer, target);
    const isAccepted = outcome.kind === 'sent';
    const verdict = outcome.kind === 'sent' ? `accepted (${answer.status})` : outcome.reason;
    return { isAccepted, text: `${verdict} ${answer.body.slice(0, TEXTS.field)}`.trimEnd() };
  } catch (error) {
    return { isAccepted: false, text: reasonOf(error) };
  }
}

const MUTE_LIMIT_MS = 10_000;

/** `words`: `mute WHAT TIME REASON…`, `unmute WHAT`, or `mutes`. Exit code 1 where the service does not do it. */
export async function changeMutes(
  [action, what = '', time = '', ...reason]: readonly string[],
  options: LoadOptions,
): Promise<Output> {
  const { config } = loadConfig(options);
  const seconds = secondsOf(time) ?? 0;
  const question =
    action === 'mutes'
      ? { path: 'api/events?limit=1' }
      : { path: 'api/events/mute', body: { what, seconds, reason: reason.join(' ') } };
  const { variables } = options.surroundings;
  try {
    const asked = { ...question, needsKey: false, timeoutMs: MUTE_LIMIT_MS };
    // The service of this configuration answers so; docs/api.md has the shape.
    const { mutes } = (await askService(config, variables, asked)) as MuteList;
    const rows = mutes.map((mute) => [
      mute.what,
      `until ${new Date(mute.until * 1000).toLocaleString('sv-SE')}`,
      mute.reason,
    ]);
    return { text: rows.length === 0 ? 'nothing is muted\n' : tableOf(rows), exitCode: 0 };
  } catch (error) {
    return { text: `the service did not do it: ${inLine(reasonOf(error))}\n`, exitCode: 1 };
  }
}
