/** `hub.commands`: which clients may have which commands carried out on which machines. Without a rule, no client may. */
import { type AddressRules, matches, parseAddress, parseAddressList } from '../../access/addresses.ts';
import type { Caller } from '../../access/caller.ts';
import type { CommandRule } from '../../config/rows/hub-rows.ts';
import { ServiceError } from '../../errors.ts';

/** The machine that a command is for. */
interface Subject {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Compiled {
  readonly rule: CommandRule;
  readonly clients: AddressRules | undefined;
}

export class CommandRules {
  readonly #rules: readonly Compiled[];

  constructor(rules: Readonly<Record<string, CommandRule>>) {
    this.#rules = Object.values(rules).map((rule) => ({
      rule,
      clients: rule.clients && parseAddressList(rule.clients, false).rules,
    }));
  }

  /** Whether one rule allows all of it. `command`: `media.play`, or `media.*`: any of its group. */
  allows(who: Caller, command: string, host: Subject): boolean {
    return this.#rules.some(
      ({ rule, clients }) =>
        (rule.hosts?.includes(host.id) ?? true) &&
        Object.entries(rule.labels).every(
          ([name, text]) => Object.hasOwn(host.labels, name) && host.labels[name] === text,
        ) &&
        (rule.keys === undefined || (who.key !== undefined && rule.keys.includes(who.key))) &&
        (clients === undefined || isAmong(clients, who.address)) &&
        rule.commands.some((pattern) => covers(pattern, command)),
    );
  }

  /** Throws `command_not_allowed`. */
  check(who: Caller, command: string, host: Subject): void {
    if (!this.allows(who, command, host))
      throw new ServiceError('command_not_allowed', 'hub.commands does not allow this client to do this.');
  }
}

function isAmong(rules: AddressRules, text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && matches(rules, address);
}

const groupOf = (name: string) => name.slice(0, name.indexOf('.') + 1);

/** `pattern`: `*`, `media.*` or `media.play`. */
function covers(pattern: string, command: string): boolean {
  if (pattern === '*' || pattern === command) return true;
  if (groupOf(pattern) !== groupOf(command)) return false;
  return pattern.endsWith('.*') || command.endsWith('.*');
}
