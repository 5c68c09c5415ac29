/** The configurations of docs/metrics.md that Grafana reads. */
import { load } from 'js-yaml';
import t from 'tap';
import { blockWith } from './recipe-blocks.ts';

t.test(
  '[3.metrics-recipes] the files for Grafana: a data source of the kind that the dashboard asks for',
  async (t) => {
    t.match(load(blockWith('datasources:')), {
      apiVersion: 1,
      datasources: [
        { name: 'Prometheus', type: 'prometheus', access: 'proxy', url: /^http:\/\/localhost:9090$/ },
      ],
    });
    t.match(load(blockWith('providers:')), {
      apiVersion: 1,
      providers: [{ name: 'hostwire', type: 'file', options: { path: '/var/lib/grafana/dashboards' } }],
    });
  },
);
