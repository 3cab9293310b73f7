import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import * as monitoring from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readSettings } from '../../src/config/settings.ts';
import { settingNames } from '../support/deploy/settings.ts';
import { temporaryFolder } from '../support/flows/world.ts';

interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    replicas: number;
    selector: { matchLabels: Record<string, string> };
    podSelector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds: number;
        securityContext: object;
        volumes?: object[];
        containers: {
          env?: { name: string; value: string }[];
          securityContext: object;
          resources: object;
          ports: { name: string }[];
          image: string;
          envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
          volumeMounts?: { mountPath: string; readOnly?: boolean }[];
        }[];
      };
    };
  };
}

const folder = new URL('../../deploy/kubernetes/', import.meta.url).pathname;
const manifests: { file: string; manifest: Manifest }[] = globSync('**/!(kustomization).yaml', {
  cwd: folder,
})
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
  Ingress: networking.Ingress,
  NetworkPolicy: networking.NetworkPolicy,
  PodDisruptionBudget: policy.PodDisruptionBudget,
  PodMonitor: monitoring.PodMonitor,
  PrometheusRule: monitoring.PrometheusRule,
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

const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const settings = { ...parseEnv(read('settings.env')), ...parseEnv(read('examples/secrets.env')) };

test('every setting that they name exists, and Docket accepts them', () => {
  const named = all.flatMap(([, manifest]) =>
    containersOf(manifest).flatMap(({ env = [] }) => env.map(({ name }) => name)),
  );
  expect(named).toContain('DOCKET_ROLE');
  expect([...named, ...Object.keys(settings)].filter((name) => !settingNames.includes(name))).toEqual([]);
  const filled = {
    SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
    SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
    DOCS_API_KEY: 'adm_0123456789',
    REDIS_URL: 'rediss://docket:secret@redis.example.com:6379',
  };
  expect(Object.keys(parseEnv(read('examples/secrets.env'))).toSorted()).toEqual(
    Object.keys(filled).toSorted(),
  );
  const accepted = readSettings({ ...settings, ...filled, DOCKET_ROLE: 'worker' });
  const reads = ['10.1.2.3', '192.168.0.7', '8.8.8.8'].map((one) => accepted.metricsAddress.check(one));
  expect(reads).toEqual([true, true, false]);
});

const running = all.filter(([, manifest]) => containersOf(manifest).length > 0);

test.each(running)('%s keeps to the restricted pod security standard, and is probed', (_, { spec }) => {
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
      startupProbe: expect.anything(),
      readinessProbe: expect.anything(),
      livenessProbe: expect.anything(),
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

test('pods have folders for the settings file and key files, which need not be there', () => {
  for (const [, { spec }] of running.filter(([name]) => name.endsWith('Deployment'))) {
    const { volumes } = spec.template.spec;
    expect(volumes).toEqual([
      { name: 'file', configMap: { name: 'docket-file', optional: true } },
      { name: 'keys', secret: { secretName: 'docket-keys', optional: true } },
    ]);
    expect(spec.template.spec.containers[0]?.volumeMounts).toEqual([
      { name: 'file', mountPath: '/config', readOnly: true },
      { name: 'keys', mountPath: '/keys', readOnly: true },
    ]);
  }
});

const find = (kind: string, name: string) => {
  const found = all.find(([, manifest]) => manifest.kind === kind && manifest.metadata.name === name);
  return (found?.[1].spec ?? {}) as unknown as Record<string, unknown>;
};

test('Prometheus finds each pod under the job of the alerts, is let in, and gets the alerts', async () => {
  const monitor = find('PodMonitor', 'docket');
  const labels = running
    .filter(([name]) => name.endsWith('Deployment'))
    .map(([, { spec }]) => spec.template.metadata.labels);
  expect(labels.map((one) => one[String(monitor.jobLabel)])).toEqual(['docket', 'docket']);
  for (const one of labels)
    expect(one).toMatchObject((monitor.selector as Manifest['spec']['selector']).matchLabels);
  const ports = running.map(([, { spec }]) => spec.template.spec.containers[0]?.ports[0]?.name);
  expect(ports).toEqual(expect.arrayContaining(['http', 'http']));
  expect(monitor.podMetricsEndpoints).toEqual([expect.objectContaining({ port: 'http', path: '/metrics' })]);
  // Nothing that keeps the scrape out: web takes connections of all, worker those of Prometheus.
  expect(find('NetworkPolicy', 'docket-web').ingress).toEqual([
    { ports: [{ protocol: 'TCP', port: 'http' }] },
  ]);
  expect(find('NetworkPolicy', 'docket-worker').ingress).toEqual([
    {
      from: [
        {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
          podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
        },
      ],
      ports: [{ protocol: 'TCP', port: 'http' }],
    },
  ]);

  const alerts = readFileSync(join(folder, '../prometheus/alerts.yml'), 'utf8');
  const rule = [
    '# deploy/prometheus/alerts.yml for the Prometheus operator. "npm test -- test/deploy/kubernetes.test.ts -u" writes it.',
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: docket',
    '  labels: { app.kubernetes.io/name: docket }',
    'spec:',
    ...alerts.split('\n').map((line) => (line === '' ? '' : `  ${line}`)),
  ].join('\n');
  await expect(rule).toMatchFileSnapshot(join(folder, 'monitoring/prometheus-rule.yaml'));
});

test('the Ingress passes on what Slack and receivers call, and nothing else', () => {
  const [rule, ...others] = find('Ingress', 'docket').rules as { http: { paths: object[] } }[];
  expect(others).toEqual([]);
  const backend = { service: { name: 'docket', port: { name: 'http' } } };
  expect(rule?.http.paths).toEqual([
    { path: '/slack/', pathType: 'Prefix', backend },
    { path: '/deployments/', pathType: 'Prefix', backend },
  ]);
});

describe('kustomize', () => {
  const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
  if (!hasKubectl) console.warn('The kustomization is not built: kubectl is not here.');

  test('names what is there', () => {
    for (const file of globSync('**/kustomization.yaml', { cwd: folder })) {
      const { resources } = parse(read(file)) as { resources: string[] };
      const here = globSync('*.yaml', { cwd: join(folder, file, '..') });
      expect(here.toSorted()).toEqual([...resources, 'kustomization.yaml'].toSorted());
    }
    const { configMapGenerator, secretGenerator } = parse(read('kustomization.yaml'));
    expect(configMapGenerator).toEqual([{ name: 'docket', envs: ['settings.env'] }]);
    expect(secretGenerator).toEqual([{ name: 'docket', envs: ['secrets.env'] }]);
  });

  /** Returns what `kubectl apply -k` would apply, after `change` of the folder. */
  function build(change: (copy: string) => void = () => {}, part = ''): Manifest[] {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    cpSync(folder, path, { recursive: true });
    cpSync(join(path, 'examples/secrets.env'), join(path, 'secrets.env'));
    change(path);
    const { stdout, stderr } = spawnSync('kubectl', ['kustomize', join(path, part)], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return parseAllDocuments(stdout).map((document) => document.toJS());
  }

  /** The names of the ConfigMaps and Secrets from which the pods read. */
  const readFrom = (built: Manifest[]) =>
    built
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => {
        const [container] = spec.template.spec.containers;
        const [configMap, secret] = container?.envFrom ?? [];
        return [configMap?.configMapRef?.name, secret?.secretRef?.name];
      });

  test.skipIf(!hasKubectl)('builds everything, and a change of a setting or secret restarts the pods', () => {
    const built = build();
    const names = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name.replace(/-[a-z0-9]{10}$/, '')}`;
    expect(built.map(names).toSorted()).toEqual([
      ...['ConfigMap docket', 'Deployment docket-web', 'Deployment docket-worker', 'Ingress docket'],
      ...['NetworkPolicy docket-web', 'NetworkPolicy docket-worker'],
      ...[
        'PodDisruptionBudget docket-web',
        'PodDisruptionBudget docket-worker',
        'Secret docket',
        'Service docket',
      ],
    ]);
    for (const manifest of built) validate(manifest);
    for (const { kind, spec } of built.filter(({ kind }) => kind === 'Deployment'))
      expect([kind, spec.template.spec.containers[0]?.image]).toEqual([
        kind,
        expect.stringMatching(/^registry\.example\.com\/docket:/),
      ]);
    const before = readFrom(built);
    const made = built.filter(({ kind }) => ['ConfigMap', 'Secret'].includes(kind));
    expect(before[0]?.toSorted()).toEqual(made.map(({ metadata }) => metadata.name).toSorted());
    const [one, other] = ['settings.env', 'secrets.env'].map((file) =>
      readFrom(build((copy) => appendFileSync(join(copy, file), 'KEEP_ALIVE_SECONDS=90\n'))),
    );
    expect([one?.[0]?.[0] === before[0]?.[0], one?.[0]?.[1] === before[0]?.[1]]).toEqual([false, true]);
    expect([other?.[0]?.[0] === before[0]?.[0], other?.[0]?.[1] === before[0]?.[1]]).toEqual([true, false]);
  });

  test.skipIf(!hasKubectl)('builds what the Prometheus operator reads', () => {
    const built = build(undefined, 'monitoring');
    expect(built.map(({ kind }) => kind).toSorted()).toEqual(['PodMonitor', 'PrometheusRule']);
  });
});
