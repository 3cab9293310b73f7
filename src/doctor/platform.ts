import type { Settings } from '../config/settings.ts';
import { parseBaseUrl } from '../docs-api/client.ts';
import { kindOfStatus } from '../docs-api/errors.ts';
import { type DocsApiOperation, OPERATIONS, type Operation } from '../docs-api/operations.ts';
import { parseErrorText } from '../docs-api/text.ts';
import type { Project } from '../projects.ts';
import { scrub } from '../runtime/log.ts';
import { connectionCode, createOutgoingAgent, type Sent, sendOnce } from '../runtime/outgoing.ts';
import { tryOr } from '../runtime/try-or.ts';
import { LIMIT_MS } from './checks.ts';

/** Bodies that the platform's contract refuses, so that nothing starts. */
const REFUSED_BODIES: Partial<Record<DocsApiOperation, object>> = {
  startExport: {},
  createAgentJob: { prompt: '' },
  sendFollowUp: { prompt: '' },
};

/** An id that no platform gives, and a part of a path that none has. */
const NO_ID = 'docket-doctor-no-such-id';
const NO_PATH = 'docket-doctor-no-such-path';

/** Whether an operation of the platform works for a project. */
export interface Probe {
  operation: DocsApiOperation;
  result: 'works' | 'refused' | 'not there' | 'not tried';
  /** The reason, unless it works: no word of the platform. */
  why: string;
  /** The platform's own reason: one line, without secrets. */
  said?: string | undefined;
}

/**
 * Tries each operation of the docs platform with the key and the id of a project. Starts and changes nothing there: it
 * reads, asks for jobs that cannot exist, and sends bodies that the contract refuses. It takes five of the hour's analytics
 * requests. Never rejects.
 */
export async function probePlatform(settings: Settings, project: Project): Promise<Probe[]> {
  const baseUrl = parseBaseUrl(settings.docsApiUrl);
  const connections = createOutgoingAgent(settings.proxies, { connectTimeout: LIMIT_MS, pipelining: 0 });

  function send({ method, path: template, input }: Operation, body: object | undefined) {
    const ids: Record<string, string> = { projectId: project.projectId ?? NO_ID };
    const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? NO_ID));
    const today = new Date().toISOString().slice(0, 10);
    const query = 'dateFrom' in input.shape ? `?dateFrom=${today}&dateTo=${today}&limit=1` : '';
    const headers = { accept: 'application/json', authorization: `Bearer ${project.apiKey}` };
    const request = { method, headers, url: `${baseUrl}${path}${query}`, body: body && JSON.stringify(body) };
    return sendOnce(connections, request, AbortSignal.timeout(LIMIT_MS)).then((sent) => ({ ...sent, path }));
  }

  async function probe(operation: DocsApiOperation): Promise<Probe> {
    const row: Operation = OPERATIONS[operation];
    const body = REFUSED_BODIES[operation];
    const hasNoJob = /\{(?:job|status)Id\}/.test(row.path);
    const isSafe = row.method === 'GET' || hasNoJob || body !== undefined;
    if (!isSafe) return { operation, result: 'not tried', why: 'it would start something' };
    if (row.path.includes('{projectId}') && project.projectId === undefined)
      return { operation, result: 'not tried', why: 'the project has no id in the settings' };
    const sent = await send(row, body);
    const { status, cause } = sent;
    if (status === undefined)
      return { operation, result: 'refused', why: `no answer: ${connectionCode(cause)}` };
    const kind = status < 300 ? undefined : kindOfStatus(status);
    if (kind === 'unsupported') return { operation, result: 'not there', why: String(status) };
    if (kind === 'not_found') {
      const parts = row.path.split('/');
      const fixed = parts.findLastIndex((part) => !part.startsWith('{'));
      const nowhere = await send({ ...row, path: parts.with(fixed, NO_PATH).join('/') }, body);
      if (nowhere.status === status && wordsOf(sent) === wordsOf(nowhere))
        return { operation, result: 'not there', why: `${status}, as for an address that can't exist` };
    }
    const isReadable = row.response.safeParse(jsonOf(sent)).success;
    const isExpected = kind === 'bad_request' || kind === 'conflict' || (kind === 'not_found' && hasNoJob);
    if (kind === undefined ? isReadable : isExpected && (hasNoJob || body !== undefined)) {
      const isTaken = kind === undefined && body !== undefined;
      const why = `${status}: it took what the contract refuses. Look in its dashboard`;
      return { operation, result: 'works', why: isTaken ? why : '' };
    }
    const why = kind === undefined ? `${status}, but its answer isn't what the API promises` : String(status);
    const said = scrub(parseErrorText(jsonOf(sent)) ?? '', [project.apiKey]);
    return { operation, result: 'refused', why, said };
  }

  const probes = await Promise.all((Object.keys(OPERATIONS) as DocsApiOperation[]).map(probe));
  await connections.close();
  return probes;
}

const jsonOf = ({ text }: Sent): unknown => tryOr(undefined, () => JSON.parse(text));

/** Returns what an answer says, without what differs at each request: its path, times, and ids. */
const wordsOf = (sent: Sent & { path: string }): string =>
  String(JSON.stringify(jsonOf(sent)))
    .replaceAll(sent.path, '')
    .replace(/[\w:.-]+/g, (word) => (/\d/.test(word) ? '' : word));

/** Returns the table of a project, and which of Docket's features it goes without. `quotes`: with the platform's words. */
export function renderProbes(title: string, probes: readonly Probe[], quotes = true): string {
  const rows = probes.map(({ operation, result, why, said }) => {
    const { method, path }: Operation = OPERATIONS[operation];
    const reason = [why, quotes && said].filter(Boolean).join(': ');
    return `  ${result.padEnd(9)}  ${operation.padEnd(25)}  ${method.padEnd(4)} ${path}${reason && `  (${reason})`}\n`;
  });
  const isMissing = ({ result }: Probe) => result === 'refused' || result === 'not there';
  const missed = new Set(probes.filter(isMissing).map(({ operation }) => OPERATIONS[operation].feature));
  const summary = missed.size === 0 ? 'nothing, as far as was tried' : [...missed].join('; ');
  return `${title}\n${rows.join('')}  Docket goes without: ${summary}.\n`;
}
