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

function lineOf(name: string, kind: string, runs: readonly Run[]): string {
  const visits = runs.flatMap((run) => run.visits.filter((made) => made.name === name));
  const into = (isGuarded: boolean) => {
    const own = visits.filter((made) => made.isGuarded === isGuarded);
    return `${own.filter(({ tries }) => tries !== undefined && Object.values(tries).includes(true)).length} of ${own.length}`;
  };
  const hosts = [...new Set(visits.map(({ host }) => `\`${host}\``))].join(', ');
  const answers = visits.filter(({ isGuarded }) => isGuarded).flatMap((made) => Object.values(made.answers));
  return `| \`${name}\` | ${hosts} | ${kind} | ${into(false)} | ${into(true)}: ${[...new Set(answers)].join('; ')} |`;
}

export function renderSection(runs: readonly Run[], when: string): string {
  const places = SITES.map(({ place, address }) => `${address} (${place})`).join(', ');
  return `${HEADING}

The operator of a Wi-Fi network answers for every name that has no public owner. Each name below is opened in ${runs.map(({ version }) => version).join(' and in ')} (${when}) as a page of the attacker, and then leads to the service: at ${places}. The page reads /api/usage and /api/processes, opens /api/ws, and posts a sleep command. The machine's name is \`pc.home.example\`; \`stats.example.org\` is in \`server.allowed_hosts\`. \`npm run prove rebinding\` writes this section. It runs in a network namespace with these addresses on a virtual interface; the browser's requests to the LAN and tailnet addresses come from another address of the same network.

"In" means that at least one of the four attempts succeeded. Without the guard all four succeed for each name.

| host name | Host header | kind | in, guard off | in, guard on |
|---|---|---|---|---|
${STRANGERS_NAMES.map(({ name, kind }) => lineOf(name, kind, runs)).join('\n')}

With the guard on, all four requests succeed in both browsers from the page at each of the owner's own hosts: ${OWN_HOSTS.map((host) => `\`${host}\``).join(', ')}.

Browsers read these hosts as addresses, ask no name server for them and send the address as Host, so that there is nothing to re-point: ${ADDRESS_SPELLINGS.map((host) => `\`${host}\``).join(', ')}.`;
}
