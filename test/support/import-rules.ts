import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Sources by path, as seen from the root of the repository: `src/app.ts`. */
export type Sources = Record<string, string>;

interface Import {
  to: string;
  /** Gone when the types are stripped: `import type …`, or nothing but `type` names. */
  typeOnly: boolean;
}

/** Files that may know a package that the rest of the program must not. */
const keepers: Record<string, string[]> = {
  '@slack/bolt': [
    'src/commands/bind.ts',
    'src/server/http-receiver.ts',
    'src/server/socket-receiver.ts',
    'src/web.ts',
  ],
  '@slack/socket-mode': ['src/server/socket-receiver.ts'],
  bullmq: ['src/jobs/engine/queue.ts', 'src/jobs/engine/workers.ts'],
};

/** Layers from top to bottom; what stands in one line does not know each other. */
const layers = [
  [
    'after-restore',
    'setup',
    'doctor',
    'app',
    'healthcheck',
    'web',
    'worker',
    'role',
    'workspaces',
    'server',
    'config',
  ],
  ['commands'],
  ['jobs'],
  ['policy'],
  ['git-hosts'],
  ['docs-api', 'slack', 'deployments'],
  ['store'],
  ['metrics'],
  ['runtime', 'domain', 'projects', 'permissions'],
];

/** Registries: each has a line per feature, so they import features. */
const registries = [
  'src/commands/index.ts',
  'src/jobs/features.ts',
  'src/jobs/help-view.ts',
  'src/jobs/index.ts',
];
const features = [
  ...['agent', 'deployment', 'digest', 'export', 'export-schedule', 'home'],
  ...['pull-request', 'site', 'workspace'],
];

/** Whether a file that all features share imports one of them. */
const knowsFeature = (file: string, to: string) =>
  /^src\/(?:commands|jobs)\/(?:(?:engine|shared)\/)?[^/]+$/.test(file) &&
  !registries.includes(file) &&
  features.some((name) => /^src\/(?:commands|jobs)\//.test(to) && to.split('/')[2] === name);

/** A folder of src, or a file at its root, by its name. */
const layerOf = (file: string): string => /^src\/([^/.]+)/.exec(file)?.[1] ?? '';

const rankOf = (layer: string) => layers.findIndex((names) => names.includes(layer));

/** Everything that breaks a rule of the code's walls, one line each. */
export function brokenRules(sources: Sources): string[] {
  const files = Object.entries(sources).map(([file, source]) => ({ file, ...parsed(file, source) }));
  return [
    ...files.flatMap(({ file, code, imports }) => [
      ...imports.flatMap((one) => brokenBy(file, one, sources).map((why) => `${file} → ${one.to}: ${why}`)),
      ...brokenIn(file, code).map((why) => `${file}: ${why}`),
    ]),
    ...cycles(new Map(files.map(({ file, imports }) => [file, imports.map(({ to }) => to)]))),
  ];
}

/** Returns the code without its comments, and what it imports. */
function parsed(file: string, source: string): { code: string; imports: Import[] } {
  const { module, comments } = parseSync(file, source);
  const code = comments.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), source);
  const imports = module.staticImports.map(({ moduleRequest, entries }) => ({
    to: target(file, moduleRequest.value),
    typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
  }));
  const passedOn = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, isType }) =>
      moduleRequest ? [{ to: target(file, moduleRequest.value), typeOnly: isType }] : [],
    );
  const called = module.dynamicImports
    .map(({ moduleRequest }) => source.slice(moduleRequest.start + 1, moduleRequest.end - 1))
    .map((specifier) => ({ to: target(file, specifier), typeOnly: false }));
  return { code, imports: [...imports, ...passedOn, ...called] };
}

function target(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
}

const isOurs = (to: string) => /^(?:src|demo|test|bench|\.)/.test(to);

function brokenBy(file: string, { to, typeOnly }: Import, sources: Sources): string[] {
  if (!isOurs(to)) {
    const broken: string[] = [];
    const keeper = Object.keys(keepers).find((name) => to === name || to.startsWith(`${name}/`));
    if (keeper && file.startsWith('src/') && !keepers[keeper]?.includes(file))
      broken.push(`only ${keepers[keeper]?.join(', ')} may know ${keeper}`);
    if (isView(file) && !typeOnly) broken.push('a view knows no package');
    return broken;
  }
  const broken: string[] = [];
  if (!to.endsWith('.ts')) broken.push('an import names the file with .ts');
  else if (!(to in sources)) broken.push('no such file');
  const [home, there] = [file.split('/')[0], to.split('/')[0]];
  // The bot of the demo is Docket itself, with a clock that can be moved.
  if (home !== there && !(isDemoBot(file) && there === 'src')) broken.push(`${home} does not know ${there}`);
  if (isStandIn(file) && !isStandIn(to)) broken.push('a stand-in knows no more of the demo');
  if (knowsFeature(file, to)) broken.push('what features share knows no feature');
  if (home === 'src' && there === 'src') broken.push(...brokenLayers(file, to, typeOnly));
  if (isView(file) && !typeOnly && !isPure(file, to))
    broken.push('a view knows block and text helpers, views, types and the pure files of its feature');
  return broken;
}

const isDemoBot = (file: string) => file.startsWith('demo/bot/');
const isStandIn = (file: string) =>
  /^demo\/(?:slack\/|docs-platform\/|deployment\/|github\/|git-host\/|wire\.ts|caused\.ts)/.test(file);

function brokenLayers(file: string, to: string, typeOnly: boolean): string[] {
  const [from, into] = [layerOf(file), layerOf(to)];
  const unknown = [from, into].find((layer) => rankOf(layer) < 0);
  if (unknown !== undefined) return [`${unknown || file} belongs to no layer`];
  if (from === 'docs-api' && into !== 'docs-api') {
    const isType = typeOnly && ['src/runtime/log.ts', 'src/config/settings.ts'].includes(to);
    const isAllowed =
      isType || /^src\/runtime\/(?:outgoing|answers|key-file|secrets|web-address)\.ts$/.test(to);
    return isAllowed ? [] : ['docs-api knows only types of log and config, and the way out'];
  }
  return rankOf(from) === 0 || from === into || rankOf(from) < rankOf(into) ? [] : ['imports go down only'];
}

const isView = (file: string) => file.startsWith('src/') && /[-/]view\.ts$/.test(file);

function isPure(view: string, to: string): boolean {
  if (['blocks', 'ids', 'limits', 'text'].some((name) => to === `src/slack/${name}.ts`) || isView(to))
    return true;
  if (['src/permissions.ts', 'src/runtime/web-address.ts'].includes(to)) return true;
  if (to.startsWith('src/jobs/schedule/')) return true;
  // What stands beside a view of a whole layer belongs to other features.
  const feature = /^src\/[^/]+\/[^/]+\//.exec(view)?.[0];
  return feature !== undefined && to.startsWith(feature) && posix.basename(to) !== 'job.ts';
}

function brokenIn(file: string, code: string): string[] {
  const broken: string[] = [];
  if (/\bimport\(\s*[^'"`\s]/.test(code)) broken.push('import() takes a literal, so that it can be checked');
  if (/\brequire\(|\bcreateRequire\b/.test(code)) broken.push('modules are imported, never required');
  const ownCode = code
    .replace(/^import\b[^;]*;/gm, '')
    .replace(/^export\s+(?:type\s+)?(?:\*[^;]*|\{[^}]*\}[^;]*);/gm, '');
  if (ownCode.trim() === '' && code.trim() !== '') broken.push('a file that only passes things on');
  if (file.startsWith('src/') && /\.\.\.\{/.test(code))
    broken.push('an object names what it holds, without bags');
  if (file.startsWith('src/') && readsEnvironment(file, code))
    broken.push('only config reads the environment; app.ts and each main.ts hand it over, and the PATH');
  if (file.startsWith('src/') && file !== 'src/store/keys.ts' && code.includes('{docket}'))
    broken.push('keys are built in store/keys.ts alone');
  return broken;
}

function readsEnvironment(file: string, code: string): boolean {
  if (file === 'src/config/settings.ts') return false;
  const allowed = /\bmain\(process\.env\)|\bprocess\.env\.PATH\b/g;
  const rest = [
    'src/app.ts',
    'src/after-restore/main.ts',
    'src/doctor/main.ts',
    'src/healthcheck/main.ts',
    'src/setup/main.ts',
  ].includes(file)
    ? code.replace(allowed, '')
    : code;
  return /process\s*(?:\?\.|\.|\[['"])\s*env\b|\benv\b[^;]*from 'node:process'|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|\bloadEnvFile\b/.test(
    rest,
  );
}

/** Each cycle of imports once, types included. */
function cycles(graph: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: string[]) => {
    const at = path.indexOf(file);
    if (at >= 0) {
      found.push(`${[...path.slice(at), file].join(' → ')}: a cycle`);
      return;
    }
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}
