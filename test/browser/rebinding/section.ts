/** The section on names in docs/evidence/security-proof.md. */
import { ADDRESS_SPELLINGS, OWN_HOSTS, SITES, STRANGERS_NAMES } from './names.ts';
import type { Run } from './suite.ts';

export const HEADING = '## Names that a stranger can re-point';

/** The section without its heading; '' if the page has none. */
export function sectionOf(page: string): string {
  const begin = page.indexOf(`${HEADING}\n`);
  if (begin < 0) return '';
  const end = page.indexOf('\n## ', begin + HEADING.length);
  return page.slice(begin, end < 0 ? undefined : end).trimEnd();
}

/** The page with `section`, heading included, in place of its own or at its end. */
export function withSection(page: string, section: string): string {
  const known = sectionOf(page);
  if (known !== '') return page.replace(known, () => section);
  return section === '' ? page : `${page.trimEnd()}\n\n${section}\n`;
}

function lineOf(kind: string, runs: readonly Run[]): string {
  const names = STRANGERS_NAMES.filter((each) => each.kind === kind).map(({ name }) => name);
  const visits = runs.flatMap((run) => run.visits.filter((made) => names.includes(made.name)));
  const into = (isGuarded: boolean) => {
    const own = visits.filter((made) => made.isGuarded === isGuarded);
    return `${own.filter(({ tries }) => tries !== undefined && Object.values(tries).includes(true)).length} of ${own.length}`;
  };
  const answers = visits.filter(({ isGuarded }) => isGuarded).flatMap((made) => Object.values(made.answers));
  const list = names.map((name) => `\`${name}\``).join(', ');
  return `| ${kind} | ${list} | ${into(false)} | ${into(true)}: ${[...new Set(answers)].join('; ')} |`;
}

export function renderSection(runs: readonly Run[], when: string): string {
  const places = SITES.map(({ place, address }) => `${address} (${place})`).join(', ');
  const kinds = [...new Set(STRANGERS_NAMES.map(({ kind }) => kind))];
  return `${HEADING}

The operator of a Wi-Fi network answers for every name that has no public owner. Each name below is opened in ${runs.map(({ version }) => version).join(' and in ')} (${when}) as a page of the attacker, and then leads to the service at ${places}, in a network namespace. The page reads /api/usage and /api/processes, opens /api/ws, and posts a sleep command. The machine's name is \`pc.home.example\`; \`stats.example.org\` is in \`server.allowed_hosts\`. \`npm run prove rebinding\` writes this section. "In" means that at least one of the four attempts succeeded. Without the guard all four succeed for each name.

| kind | host names | in, guard off | in, guard on |
|---|---|---|---|
${kinds.map((kind) => lineOf(kind, runs)).join('\n')}

With the guard on, all four requests succeed in both browsers from the page at each of the owner's own hosts: ${OWN_HOSTS.map((host) => `\`${host}\``).join(', ')}.

Browsers read these hosts as addresses, so that there is no name to re-point: ${ADDRESS_SPELLINGS.map((host) => `\`${host}\``).join(', ')}.`;
}
