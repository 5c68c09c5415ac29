/** packaging/grafana/hostwire.json, as Grafana reads it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly uid: string };
}
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly Target[];
}
interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

const FILE = path.resolve(import.meta.dirname, '../../../../packaging/grafana/hostwire.json');
// The panels and variables of a dashboard, as Grafana describes them.
export const DASHBOARD = JSON.parse(readFileSync(FILE, 'utf8')) as {
  readonly id: null;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
};
export const TARGETS = DASHBOARD.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);
