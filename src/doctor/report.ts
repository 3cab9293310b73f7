import { readFileSync } from 'node:fs';
import { arch, homedir, release, type } from 'node:os';
import { join, resolve } from 'node:path';
import { parseDocument, visit } from 'yaml';
import { healthAddressOf } from '../config/env-file.ts';
import { redisAddressOf, type Settings, secretsOf, settingNames } from '../config/settings.ts';
import { scrub } from '../runtime/log.ts';
import { tryOr } from '../runtime/try-or.ts';
import { isAnyId } from '../slack/ids.ts';
import { methodScopes } from '../slack/web-calls.ts';
import { checkRedis } from '../store/redis/check.ts';
import { inRoot, LIMIT_MS, type Line } from './checks.ts';
import { probePlatform, renderProbes } from './platform.ts';

/** The errors of a log that are in a report, and the maximum length of a line. */
const MAX_ERRORS = 20;
const MAX_LENGTH = 4000;

interface ReportParts {
  /** The environment, with what `.env` sets. */
  env: NodeJS.ProcessEnv;
  /** What the doctor found. */
  lines: readonly Line[];
  /** The file with Docket's log, if any. */
  log: string | undefined;
  /** Undefined if they are wrong. */
  settings: Settings | undefined;
}

/** Returns a text for a public bug report. It has no value of a setting, no secret, no name and no address of anybody. */
export async function createReport({ env, lines, log, settings }: ReportParts): Promise<string> {
  const { version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  const { workspaces = [], projects = [], dataDir = '' } = settings ?? {};
  const own = { socketPath: join(resolve(dataDir), 'redis/redis.sock') };
  const redis = settings && (await checkRedis(redisAddressOf(settings) ?? own)).version;
  const deployments = projects.flatMap((project) => project.deployments ?? []);
  const probes = await Promise.all(projects.map((project) => settings && probePlatform(settings, project)));
  const logged = tryOr(undefined, () => readFileSync(log ?? '', 'utf8').split('\n'));
  const metrics = (await ask(env, 'metrics'))?.split('\n') ?? [];
  const sections: Record<string, string[]> = {
    Versions: [
      `Docket ${version}, Node ${process.version}, ${type()} ${release()} ${arch()}, ${redis ?? 'no Redis answers'}`,
    ],
    'Settings that are set': [settingNames.filter((name) => env[name]?.trim()).join(', ')],
    Counts: [
      `${workspaces.length} workspaces, ${projects.length} projects, ${deployments.length} deployments`,
    ],
    // What is good may name a workspace or a folder.
    Doctor: lines.map(({ status, about, text }) => `${status} ${about}${status === 'ok' ? '' : `: ${text}`}`),
    'The running Docket': [(await ask(env, 'readyz')) ?? 'None answers on this machine.'],
    'Its metrics': metrics.filter((line) => /^docket_/.test(line) && !/_(?:bucket|sum)\b| 0$/.test(line)),
    'Last errors': logged
      ? logged.filter((line) => /"level":[56]0,/.test(line)).slice(-MAX_ERRORS)
      : ['Not read: add --log and a file with the log of Docket.'],
  };
  const hide = createHide(env, settings);
  // Versions look like addresses.
  const rendered = Object.entries(sections).map(
    ([title, rows]) =>
      `## ${title}\n${rows.map((row) => `${title === 'Versions' ? row : hide(row)}\n`).join('')}\n`,
  );
  const tables = probes.map((rows, index) => renderProbes(`Project ${index + 1}`, rows ?? [], false));
  return `${rendered.join('')}## Docs platform\n${tables.join('\n') || 'Not asked: the settings are wrong.\n'}`;
}

/** Returns what a Docket on this machine answers; undefined if none runs. */
const ask = (env: NodeJS.ProcessEnv, path: string): Promise<string | undefined> =>
  fetch(`http://${healthAddressOf(env)}/${path}`, { signal: AbortSignal.timeout(LIMIT_MS) })
    .then((answer) => (answer.ok ? answer.text() : undefined))
    .catch(() => undefined);

/** Names of files, whose dots do not make them addresses. */
const FILES = /^docs\/[\w-]+\.md\b|\.(?:env|[cm]?[jt]s|json|ya?ml|conf|pid|log)\b/g;

/** Returns whether a word is a path, an address, also of e-mail, or in the form of an id or a key. */
const isPrivate = (word: string): boolean =>
  /^\/.*\/|\d\.\d+\.\d+\.\d/.test(word) ||
  (/[\p{L}\p{N}]\.\p{L}{2}/u.test(word.replace(FILES, '')) && !Object.hasOwn(methodScopes, word)) ||
  isAnyId(word) ||
  /^(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{16,}$/.test(word);

/** Returns a function that removes from a line the values of settings, secrets, and what is private by its form. */
function createHide(env: NodeJS.ProcessEnv, settings: Settings | undefined): (line: string) => string {
  const file = parseDocument(tryOr('', () => readFileSync(env.DOCKET_CONFIG ?? '', 'utf8')));
  const { workspaces, projects } = tryOr(undefined, () => file.toJS()) ?? {};
  const deployments = Object.values<{ deployments?: object } | null>(projects ?? {}).map(
    (one) => one?.deployments,
  );
  const names = new Set([workspaces, projects, ...deployments].flatMap((map) => Object.keys(map ?? {})));
  const inFile: string[] = [];
  visit(file, {
    Scalar(place, { value }) {
      // It may be the name of a variable with a secret.
      if (place !== 'key') inFile.push(String(value), env[String(value)] ?? '');
    },
  });
  const given = settingNames.map((name) => env[name] ?? '');
  // A word without digits and signs, such as a level of the log, is a value of many.
  const values = [...inFile, ...given].filter((value) => value.length > 3 && !/^[a-z]+$/.test(value));
  const hidden = [...values, ...(settings ? secretsOf(settings) : []), homedir()];
  hidden.sort((one, other) => other.length - one.length);
  const root = inRoot('');
  return (line) =>
    scrub(line, hidden)
      .replaceAll(`file://${root}`, '')
      .replaceAll(root, '')
      .replace(/[^\s"'`()[\]{}<>,;:=\\]+/g, (word) => (isPrivate(word) ? '…' : word))
      .replace(/[\w-]+/g, (word) => (names.has(word) ? '…' : word))
      .slice(0, MAX_LENGTH);
}
