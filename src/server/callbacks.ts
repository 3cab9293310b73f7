import type { IncomingMessage, ServerResponse } from 'node:http';
import { firstLine, reasonIn } from '../deployments/sender.ts';
import { createSigner } from '../deployments/webhook.ts';
import { callbackBody, mayBeSent, readWebhookId, updateRun } from '../jobs/deployment/record.ts';
import type { Project } from '../projects.ts';
import type { RoleParts } from '../role.ts';
import { parseJson } from '../runtime/json.ts';
import type { RunStore } from '../store/runs.ts';
import { readBody } from './http-receiver.ts';
import { refuse } from './http-server.ts';

/** A callback has only a state and a sentence. */
const MAX_BYTES = 64_000;

/** Maximum length of a callback's own id, which begins with an id of ours. */
const MAX_ID = 200;

interface CallbackParts extends Pick<RoleParts, 'server' | 'machineMs' | 'now' | 'log' | 'secrets'> {
  projects: readonly Project[];
  runs: Pick<RunStore, 'loadAll' | 'appendToInbox'>;
  wake: (run: { job: string; id: string }) => unknown;
}

/**
 * Receives callbacks at `POST /deployments/<webhook-id>`: whether a deployment serves an export. The deployment signs them
 * as Docket signs its webhooks, with one of the same secrets. Their own `webhook-id` begins with that of the address. Unknown ids
 * and bad signatures have the same answer. Answers 204 only once the callback is stored.
 */
export function receiveCallbacks(parts: CallbackParts): void {
  const { server, projects, runs, wake, machineMs, now, log, secrets } = parts;
  const webhooks = projects.flatMap(({ deployments = [] }) =>
    deployments.flatMap(({ webhook }) => webhook ?? []),
  );
  const renewed = (hidden: string[]) => {
    secrets.push(...hidden);
    log.info('a new token or secret of a deployment was read from its file');
  };
  const signers = new Map(webhooks.map((webhook) => [webhook, createSigner(webhook, renewed)]));

  async function receive(request: IncomingMessage, response: ServerResponse) {
    const id = request.url?.slice('/deployments/'.length) ?? '';
    const known = readWebhookId(id);
    const ownId = request.headers['webhook-id'];
    const isOwn = typeof ownId === 'string' && ownId.length <= MAX_ID && ownId.startsWith(id);
    if (known === undefined || !isOwn) return refuse(response, 401);
    const { body, refusal } = await readBody(request, MAX_BYTES);
    if (refusal !== undefined) return refuse(response, refusal);
    // Unlike `load`, it finds nothing if the id belongs to a run of another kind.
    const [run] = await runs.loadAll([known.id], updateRun);
    const project = projects.find(({ name }) => name === run?.project);
    const target = project?.deployments?.find(({ name }) => name === run?.deployment);
    const webhook = run && mayBeSent(run, known) ? target?.webhook : undefined;
    const signer = webhook && signers.get(webhook);
    if (!signer?.verify(request.headers, body, machineMs())) {
      log.info('a callback of a deployment has no valid signature, or is about no known message');
      return refuse(response, 401);
    }
    const read = callbackBody.safeParse(parseJson(body));
    if (!read.success)
      return refuse(response, 400, 'Send { "state": "live" or "failed", "message": "…" }.\n');
    // The text of a failed download often has the link in it.
    const message = firstLine(reasonIn(body), signer.hidden());
    const { state } = read.data;
    const { id: runId, ...about } = known;
    const event = { state, message, ...about, atMs: now() };
    await runs.appendToInbox('deployment', runId, { event, dedupeKey: `callback ${ownId}` });
    await wake({ job: 'deployment', id: runId });
    response.writeHead(204).end();
  }

  server.route('POST /deployments/', (request, response) =>
    receive(request, response).catch((err: unknown) => {
      log.warn({ err }, 'a callback of a deployment was refused: Redis did not take it');
      // The deployment has to call back again.
      refuse(response, 503);
    }),
  );
}
