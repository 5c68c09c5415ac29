/** How families become text, and which form a request gets. */
import t from 'tap';
import { toOpenMetrics, writeFamily } from '#src/exporters/prometheus/exposition.js';
import { chooseForm } from '#src/exporters/prometheus/negotiate.js';
import { parseFamilies } from './families.ts';

t.test('[3.metrics-text] label values are escaped, what has no value is left out', async (t) => {
  const odd = 'a "b" \\ c\nd';
  const text = writeFamily({
    name: 'node_x',
    help: 'Help.',
    type: 'gauge',
    samples: [
      { labels: { device: odd }, value: 1.5 },
      { labels: { device: 'none' }, value: null },
      { labels: { device: 'nan' }, value: Number.NaN },
    ],
  });
  t.equal(text, '# HELP node_x Help.\n# TYPE node_x gauge\nnode_x{device="a \\"b\\" \\\\ c\\nd"} 1.5\n');
  t.equal(writeFamily({ name: 'a', help: 'b', type: 'gauge', samples: [{ value: undefined }] }), '');
});

t.test('[3.metrics-openmetrics] a counter is named without _total, the rest is the same', async (t) => {
  const text =
    '# HELP a_total The "total" a.\n# TYPE a_total counter\na_total{of="# TYPE b_total counter"} 1\n' +
    '# HELP b A counter with a name that node_exporter gave it.\n# TYPE b counter\nb 2\n' +
    '# HELP c Untyped.\n# TYPE c untyped\nc 3\n' +
    '# HELP d Gauge.\n# TYPE d gauge\nd 4\n' +
    '# HELP e_total A gauge with the name of a counter.\n# TYPE e_total gauge\ne_total 5\n';
  t.equal(
    toOpenMetrics(text),
    '# HELP a The \\"total\\" a.\n# TYPE a counter\na_total{of="# TYPE b_total counter"} 1\n' +
      '# HELP b A counter with a name that node_exporter gave it.\n# TYPE b unknown\nb 2\n' +
      '# HELP c Untyped.\n# TYPE c unknown\nc 3\n' +
      '# HELP d Gauge.\n# TYPE d gauge\nd 4\n' +
      '# HELP e_total A gauge with the name of a counter.\n# TYPE e_total gauge\ne_total 5\n# EOF\n',
  );
  t.equal(parseFamilies(toOpenMetrics(text)).size, 5);
});

const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';

t.test('[3.metrics-accept] the form of the answer follows the weights of Accept', async (t) => {
  const isOpenMetrics = (...accept: readonly string[]) => chooseForm(accept, []).isOpenMetrics;
  t.equal(isOpenMetrics(), false);
  t.equal(isOpenMetrics('*/*'), false, 'curl');
  t.equal(isOpenMetrics('text/html', '*/*;q=0.8'), false, 'a browser');
  t.equal(
    isOpenMetrics(`${OPEN_METRICS};q=0.75`, 'text/plain;version=0.0.4;q=0.5', '*/*;q=0.1'),
    true,
    'Prometheus',
  );
  t.equal(isOpenMetrics(`${OPEN_METRICS};q=0.5`, 'text/plain;version=0.0.4;q=0.75'), false);
  t.equal(isOpenMetrics(`${OPEN_METRICS};q=0`, 'text/plain'), false);
  t.equal(isOpenMetrics('application/openmetrics-text;version=0.0.1', '*/*;q=0.1'), false, 'another version');
  t.equal(isOpenMetrics('application/openmetrics-text; version="1.0.0"; charset=utf-8'), true);
  t.equal(isOpenMetrics('APPLICATION/OpenMetrics-Text'), true);
  t.equal(isOpenMetrics(`${OPEN_METRICS};q=nonsense`), false);
});

t.test('[3.metrics-gzip] gzip only where it is asked for', async (t) => {
  const isGzip = (...encodings: readonly string[]) => chooseForm([], encodings).isGzip;
  t.equal(isGzip(), false);
  t.equal(isGzip('gzip'), true);
  t.equal(isGzip('br', 'gzip;q=0.5'), true);
  t.equal(isGzip('gzip;q=0', '*'), false);
  t.equal(isGzip('*'), true);
  t.equal(isGzip('br', 'identity'), false);
});
