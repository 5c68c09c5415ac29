/** `hostwire notify test`: sends a message to the targets of the configuration, and prints their answers. */
import os from 'node:os';
import { quote } from '../clean.ts';
import { type LoadOptions, loadConfig } from '../config/load.ts';
import { messageOf as reasonOf } from '../errors.ts';
import { testMessage } from '../notify/message.ts';
import { deliver, judge, type TargetOptions } from '../notify/target.ts';
import { inLine, type Output } from './output.ts';

/** Characters of an answer that are shown. */
const MAX_SHOWN = 1000;

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
    return { isAccepted, text: `${verdict} ${answer.body.slice(0, MAX_SHOWN)}`.trimEnd() };
  } catch (error) {
    return { isAccepted: false, text: reasonOf(error) };
  }
}
