import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { settingNames } from '../support/deploy/settings.ts';

interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec: {
    replicas: number;
    selector: { matchLabels: Record<string, string> };
    podSelector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds: number;
        securityContext: object;
        containers: {
          env?: { name: string; value: string }[];
          securityContext: object;
          resources: object;
          ports: { name: string }[];
          livenessProbe?: { httpGet: { path: string; port: string } };
          readinessProbe?: { httpGet: { path: string; port: string } };
        }[];
      };
    };
  };
}

const folder = new URL('../../deploy/kubernetes/', import.meta.url).pathname;
const manifests: { file: string; manifest: Manifest }[] = globSync('**/*.yaml', { cwd: folder })
  .toSorted()
  .flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => {
      expect(document.errors).toEqual([]);
      return { file, manifest: document.toJS() };
    }),
  );
const all = manifests.map(({ file, manifest }) => [`${file} ${manifest.kind}`, manifest] as const);

const models = {
  ConfigMap: core.ConfigMap,
  Deployment: apps.Deployment,
  NetworkPolicy: networking.NetworkPolicy,
  PodDisruptionBudget: policy.PodDisruptionBudget,
  Secret: core.Secret,
  Service: core.Service,
  StatefulSet: apps.StatefulSet,
};

function validate(manifest: Manifest): void {
  const Model = models[manifest.kind as keyof typeof models];
  // Each checks at its construction's types what it gets from code; from a file, only its schema can.
  new Model(manifest as never).validate();
}

test.each(all)('%s is one by the schema of Kubernetes', (_, manifest) => validate(manifest));

const containersOf = ({ spec }: Manifest) => spec?.template?.spec.containers ?? [];

test('every setting that they name exists', () => {
  const named = all.flatMap(([, manifest]) => [
    ...Object.keys({ ...manifest.data, ...manifest.stringData }),
    ...containersOf(manifest).flatMap(({ env = [] }) => env.map(({ name }) => name)),
  ]);
  expect(named).toContain('DOCKET_ROLE');
  expect(named.filter((name) => !settingNames.includes(name))).toEqual([]);
});

const running = all.filter(([, manifest]) => containersOf(manifest).length > 0);

test.each(running)('%s keeps to the restricted pod security standard', (_, { spec }) => {
  const { securityContext, containers, terminationGracePeriodSeconds } = spec.template.spec;
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(terminationGracePeriodSeconds).toBeGreaterThan(10);
  for (const container of containers)
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { requests: expect.anything(), limits: expect.anything() },
    });
});

test('every selector finds pods', () => {
  const labels = running.map(([, { spec }]) => spec.template.metadata.labels);
  const selectors = all.flatMap(([name, { kind, spec }]) => {
    if (kind === 'Service') return [[name, spec.selector as unknown as Record<string, string>] as const];
    const selector = spec?.selector ?? spec?.podSelector;
    return selector ? [[name, selector.matchLabels] as const] : [];
  });
  expect(selectors.length).toBeGreaterThan(8);
  for (const [name, selector] of selectors)
    expect([name, labels]).toEqual([name, expect.arrayContaining([expect.objectContaining(selector)])]);
});
