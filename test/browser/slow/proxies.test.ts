/** The halves that browser/dashboard/proxies.test.ts leaves out. */
import t from 'tap';
import { programNamed } from '../../helpers/proxies/programs.ts';
import { judgeDashboards } from '../dashboard/behind-proxy.ts';

await judgeDashboards(t, [
  [programNamed('nginx'), '/pc/'],
  [programNamed('apache'), '/pc/'],
  [programNamed('caddy'), '/'],
  [programNamed('haproxy'), '/'],
]);
