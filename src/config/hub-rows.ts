/** The rows of `hub`. */
import * as v from 'valibot';
import type { SecretFile } from './mqtt-rows.ts';
import { configRow, namedRow, type Row } from './rows.ts';
import { isAgentUrl, isFileName, isLabels } from './values.ts';

/** A service whose machine the hub shows (`hub.agents`). */
export interface AgentEntry {
  readonly url: string;
  readonly key_file?: SecretFile;
  readonly pin?: string;
  readonly labels: Readonly<Record<string, string>>;
}

const PIN = v.pipe(v.string(), v.regex(/^sha256\/[A-Za-z0-9+/]{43}=$/));

/** The keys of one entry of `hub.agents`. */
export const AGENT_KEYS = {
  url: configRow(v.pipe(v.string(), v.check(isAgentUrl)), '', {
    type: 'string',
    expected: 'http://HOST or https://HOST, with a port where it is not 80 or 443, and nothing after it',
    meaning: 'Where its service is: `http://pc1.lan:9990`, or `https://…`. Required.',
    defaultInWords: 'required',
    // It may have a password before an @.
    mayBeSecret: true,
  }),
  key_file: configRow<string | undefined>(v.pipe(v.string(), v.check(isFileName)), undefined, {
    type: 'string',
    expected: 'the path of a file that holds the key',
    meaning:
      'A file that holds its key (at most 4 KiB; a trailing newline is cut). Nobody but its owner and its group may read it. A relative path starts at the folder of the file that names it.',
    defaultInWords: 'none',
    // The key may have been written in place of the path.
    mayBeSecret: true,
  }),
  pin: configRow<string | undefined>(PIN, undefined, {
    type: 'string',
    expected: 'a pin, sha256/BASE64',
    meaning:
      'With `https://`: the pin of its key, which `hostwire doctor` and `hostwire keygen --tls` print there. Without it an authority that Node knows must have signed its certificate.',
    defaultInWords: 'none',
  }),
  labels: configRow<Readonly<Record<string, string>>>(
    v.custom<Record<string, string>>(isLabels),
    {},
    {
      type: 'map of strings',
      expected:
        'a map of at most 16 labels: names of 1 to 64 letters, digits, "_" and "-", texts of 1 to 64 characters',
      meaning: 'What viewers may filter by, such as `site: berlin`.',
    },
  ),
};

export const AGENTS_ROW: Row<Readonly<Record<string, AgentEntry>>> = namedRow<AgentEntry>(
  {
    keys: AGENT_KEYS,
    required: 'url',
    requires: 'an http:// or https:// URL',
    short: 'url',
    names: { pattern: /^[A-Za-z0-9_-]{1,64}$/, words: 'letters, digits, "_" or "-"' },
  },
  {
    expected: 'a map of ids to URLs or {url, key_file, pin, labels}',
    meaning:
      'For `hostwire hub`: the services whose machines it shows, by id; a URL, or the keys below (docs/hub.md).',
  },
);
