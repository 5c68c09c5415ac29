/** packaging/grafana/hostwire.json: that Grafana can import it. */
import t from 'tap';
import { DASHBOARD, type Panel, TARGETS } from './grafana.ts';

/** Grafana's value formats that are used here. */
const UNITS = new Set([
  ...['none', 'short', 's', 'percent', 'percentunit', 'bool_yes_no', 'celsius', 'hertz', 'rotrpm', 'watt'],
  ...['watth', 'bytes', 'Bps', 'bps', 'pps', 'iops', 'ops', 'reqps'],
]);

const isOver = ({ gridPos: a }: Panel, { gridPos: b }: Panel) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

t.test('[3.metrics-dashboard] the dashboard has what an import needs', async (t) => {
  const { panels, templating } = DASHBOARD;
  t.match(DASHBOARD, { id: null, uid: 'hostwire', title: 'hostwire', schemaVersion: 38 });
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'no id twice');
  t.strictSame(
    templating.list.map(({ name, type }) => `${name} ${type}`),
    ['datasource datasource', 'job query', 'instance query'],
  );
  for (const [at, panel] of panels.entries()) {
    const { x, w, h } = panel.gridPos;
    t.ok(x >= 0 && w > 0 && h > 0 && x + w <= 24, `${panel.title}: within 24 columns`);
    for (const other of panels.slice(0, at))
      if (isOver(panel, other)) t.fail(`${panel.title} lies over ${other.title}`);
    if (panel.type === 'row') continue;
    t.ok(UNITS.has(panel.fieldConfig?.defaults.unit ?? ''), `${panel.title}: its unit`);
    const refs = panel.targets?.map(({ refId }) => refId) ?? [];
    t.ok(refs.length > 0 && new Set(refs).size === refs.length, `${panel.title}: its queries`);
  }
  for (const { title, expr, datasource } of TARGETS) {
    t.equal(datasource.uid, `\${datasource}`, title);
    const selectors = expr.match(/\{[^}]*\}/g) ?? [];
    for (const selector of selectors)
      t.ok(selector.startsWith('{job="$job",instance="$instance"'), `${title}: ${selector}`);
  }
});
