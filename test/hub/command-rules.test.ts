/** `hub.commands`: who may do what to which machines. */
import t from 'tap';
import type { Caller } from '#src/access/caller.js';
import type { CommandRule } from '#src/config/rows/hub-rows.js';
import { CommandRules } from '#src/hub/commands/command-rules.js';
import { callerAt } from '../helpers/fakes/sender.ts';

const HOST = { id: 'pc', labels: { site: 'berlin', role: 'tv' } };
const KEYED = callerAt('192.0.2.7', 'default');
const OPEN = callerAt('192.0.2.7');
const ruleOf = (part: Partial<CommandRule>): CommandRule => ({ commands: ['*'], labels: {}, ...part });
const allows = (
  rules: readonly Partial<CommandRule>[],
  command = 'media.play',
  who: Caller = OPEN,
  host = HOST,
): boolean =>
  new CommandRules(Object.fromEntries(rules.map((rule, i) => [`r${i}`, ruleOf(rule)]))).allows(
    who,
    command,
    host,
  );

t.test('[I.hub.commands] without a rule no client may command anything', async (t) => {
  t.equal(allows([]), false);
  t.equal(allows([], 'media.play', KEYED), false);
  t.throws(() => new CommandRules({}).check(KEYED, 'power.lock', HOST), { code: 'command_not_allowed' });
});

t.test('[I.hub.commands] everything that a rule says must hold', async (t) => {
  const cases: readonly (readonly [rule: Partial<CommandRule>, who: Caller, isAllowed: boolean])[] = [
    [{}, OPEN, true],
    [{ commands: ['media.*'] }, OPEN, true],
    [{ commands: ['media.play'] }, OPEN, true],
    [{ commands: ['media.pause', 'power.*'] }, OPEN, false],
    [{ keys: ['default'] }, OPEN, false],
    [{ keys: ['default'] }, KEYED, true],
    [{ keys: ['other'] }, KEYED, false],
    [{ clients: ['192.0.2.0/24'] }, OPEN, true],
    [{ clients: ['198.51.100.0/24', '192.0.2.7'] }, OPEN, true],
    [{ clients: ['198.51.100.0/24'] }, KEYED, false],
    [{ clients: ['2001:db8::/32'] }, callerAt('2001:db8:1:2:3:4:5:6'), true],
    [{ clients: ['2001:db8::/32'] }, callerAt('2001:db9::1'), false],
    [{ clients: ['0.0.0.0/0'] }, callerAt('', 'default'), false],
    [{ hosts: ['pc'] }, OPEN, true],
    [{ hosts: ['tv', 'pc2'] }, OPEN, false],
    [{ labels: { site: 'berlin' } }, OPEN, true],
    [{ labels: { site: 'berlin', role: 'nas' } }, OPEN, false],
    [{ labels: { constructor: 'x' } }, OPEN, false],
    [{ hosts: ['pc'], clients: ['192.0.2.7'], keys: ['default'], labels: { role: 'tv' } }, KEYED, true],
    [{ hosts: ['pc'], clients: ['192.0.2.7'], keys: ['default'], labels: { role: 'tv' } }, OPEN, false],
  ];
  for (const [rule, who, isAllowed] of cases)
    t.equal(allows([rule], 'media.play', who), isAllowed, JSON.stringify([rule, who]));
  t.equal(allows([{ hosts: ['tv'] }, { commands: ['power.*'] }]), false, 'two rules are not one');
  t.equal(allows([{ hosts: ['tv'] }, { commands: ['media.*'] }]), true, 'one of them is enough');
});

t.test('[I.hub.commands] commands by name, by group and all', async (t) => {
  const cases: readonly (readonly [pattern: string, command: string, isAllowed: boolean])[] = [
    ['*', 'process.kill', true],
    ['power.sleep', 'power.sleep', true],
    ['power.sleep', 'power.shutdown', false],
    ['power.*', 'power.shutdown', true],
    ['power.*', 'process.kill', false],
    // Any of the group, before it is known which.
    ['media.play', 'media.*', true],
    ['power.*', 'media.*', false],
    ['media.*', 'media.*', true],
    ['media.*', 'media', false],
    ['media.play', '', false],
  ];
  for (const [pattern, command, isAllowed] of cases)
    t.equal(allows([{ commands: [pattern] }], command), isAllowed, `${pattern} and ${command}`);
});
