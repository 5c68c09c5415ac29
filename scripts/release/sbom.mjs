// The contents of a release, in CycloneDX: made by npm from package-lock.json, limited to shipped packages.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { bundledLibraries } from '../bundle.mjs';
import { WEB_LIBRARIES } from '../web.mjs';
import { RUNTIME, runTool } from './runtime.mjs';
import { root, VERSION } from './tree.mjs';

/** Returns the runtime dependencies and the packages bundled into dist/: "NAME@VERSION", as npm refers to them. */
function findShipped() {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const folders = [...Object.keys(packages[''].dependencies), ...bundledLibraries(), ...WEB_LIBRARIES];
  return new Set(
    folders.map((folder) => {
      const { name, version } = packages[`node_modules/${folder}`];
      const original = name ?? folder.replace(/.*\/node_modules\//, '');
      return `${original}@${version}`;
    }),
  );
}

/** Node is in the bundles and packages, but not in package-lock.json. */
const NODE = {
  'bom-ref': `node@${RUNTIME.version}`,
  type: 'platform',
  name: 'node',
  version: RUNTIME.version,
  scope: 'required',
  purl: `pkg:generic/node@${RUNTIME.version}`,
  licenses: [{ license: { id: 'MIT' } }],
};

/** Returns a UUID of the commit, instead of a random one: the same commit gives the same text. */
function serialNumber(commit) {
  const digits = createHash('sha256').update(`hostwire ${VERSION} ${commit}`).digest('hex');
  const groups = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digits)?.slice(1) ?? [];
  return `urn:uuid:${groups[0]}-${groups[1]}-8${groups[2]}-8${groups[3]}-${groups[4]}`;
}

/** Returns the text of the SBOM. Build first. */
export function describeContents(commit, seconds) {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const bom = JSON.parse(runTool('npm', args, { cwd: root }));
  const shipped = findShipped();
  const components = bom.components.filter((each) => shipped.has(each['bom-ref']));
  const found = new Set(components.map((each) => each['bom-ref']));
  const missing = [...shipped].filter((ref) => !found.has(ref));
  if (missing.length > 0) throw new Error(`npm sbom does not know ${missing.join(', ')}`);
  for (const component of components) {
    // "optional", "development" are meant for builds.
    component.scope = 'required';
    component.properties = component.properties.filter(({ name }) => !name.endsWith(':development'));
  }
  components.push(NODE);
  const self = bom.metadata.component['bom-ref'];
  const dependencies = bom.dependencies
    .filter(({ ref }) => ref === self || found.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => found.has(each)) }));
  dependencies.find(({ ref }) => ref === self).dependsOn.push(NODE['bom-ref']);
  const { component } = bom.metadata;
  return `${JSON.stringify(
    {
      ...bom,
      serialNumber: serialNumber(commit),
      metadata: {
        ...bom.metadata,
        timestamp: new Date(seconds * 1000).toISOString(),
        lifecycles: [{ phase: 'build' }],
        // npm names it like its folder.
        component: { ...component, name: 'hostwire', type: 'application' },
      },
      components,
      dependencies,
    },
    undefined,
    2,
  )}\n`;
}
