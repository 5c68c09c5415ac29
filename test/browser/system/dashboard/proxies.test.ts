/** The dashboard behind real proxies, each at the root or below a path; browser/slow/proxies.test.ts has the other halves. */
import t from 'tap';
import { programNamed } from '../../../helpers/proxies/programs.ts';
import { judgeDashboards } from '../../dashboard/behind-proxy.ts';

await judgeDashboards(t, [
  [programNamed('nginx'), '/'],
  [programNamed('apache'), '/'],
  [programNamed('caddy'), '/pc/'],
  [programNamed('haproxy'), '/pc/'],
]);
