import type { DeploymentApi } from '../../../../src/deployments/deployment.ts';
import { GithubError } from '../../../../src/deployments/github.ts';
import {
  newUpdate,
  type UpdateRun,
  updateRun,
  updateTransitions,
} from '../../../../src/jobs/deployment/record.ts';
import { updateMessages } from '../../../../src/jobs/deployment/view.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import { message } from '../../../../src/slack/blocks.ts';
import { anOutbox } from '../../slack/world.ts';
import { aRun } from '../export/builders.ts';
import type { Engine, Process } from './engine.ts';
import { ana, channel, MINUTE_MS, type Parts, type Scenario, teamId } from './scenarios.ts';

const url = 'https://github.test/1';

const failure = (outcome: 'refused' | 'failed', isSent: boolean) => () => {
  const status = outcome === 'refused' ? 429 : undefined;
  return new GithubError('dispatch', false, {
    ...{ outcome, isSent, status, reason: outcome, headers: {}, text: '', retryAfterMs: status && 5000 },
  });
};

const errors = {
  failed: failure('refused', true),
  unclear: failure('failed', true),
  tooLate: failure('failed', false),
  limitMs: defaultTiming.deploymentCallMs,
};

/** Production takes webhooks with a link, staging has a workflow: what reached them. */
export function createTargets({ random }: Engine) {
  const webhooks: { id: string; body: string }[] = [];
  const dispatches: string[] = [];

  function of({ cross }: Process, name: string) {
    const call = <T>(method: string, effect: () => T, isTooLate?: () => boolean) =>
      cross({ name: `deployment.${method}`, call: effect, ...errors, isTooLate });
    const webhook = {
      kind: 'webhook',
      includeLink: true,
      send: (sent: (typeof webhooks)[number]) =>
        call('send', () => webhooks.push(sent)).then(
          () => ({ kind: 'delivered' }),
          () => ({ kind: 'retry', reason: 'no answer' }),
        ),
    };
    const dispatched = (jobId: string) => {
      const run = { id: dispatches.push(jobId), url };
      return { happened: 'yes', ...(random() < 0.5 && { run }) };
    };
    const workflow = {
      kind: 'github',
      dispatch: ({ jobId }: { jobId: string }, isTooLate: () => boolean) =>
        call('dispatch', () => dispatched(jobId), isTooLate),
      getRun: (id: number) => call('getRun', () => ({ id, url, status: 'completed', conclusion: 'success' })),
    };
    return (name === 'production' ? webhook : workflow) as unknown as DeploymentApi;
  }
  return { webhooks, dispatches, of };
}

/** A deployment is notified of two exports, and maybe of the first one again. */
export function updateScenario(parts: Parts): Scenario {
  const { now, random, redis, one, accept, runs, plan, targets, messages } = parts;
  const { webhooks, dispatches } = targets;
  const deployment = one(['production', 'staging']);
  const by = { id: ana.id, name: ana.name };
  const asked = { channel: channel.id, isPublic: true };
  const update = (jobId: string) => {
    const run = aRun({ teamId, project: 'acme', domain: 'docs.acme.com', jobId });
    return newUpdate(run, { deployment, under: 'r1.card', asked, inDirectMessage: false, by }, now());
  };
  const load = async () =>
    (await runs.loadAll([update('se_1').id, update('se_2').id], updateRun)) as UpdateRun[];
  const sent = (run: UpdateRun) => dispatches.filter((jobId) => jobId === run.jobId).length;
  const allowed = new Map<string, number>();
  let returns = one([0, 0, 1]);

  /** Clicks a button; a click that comes too late has no effect. */
  async function click(run: UpdateRun, action: keyof typeof updateTransitions) {
    const next = updateTransitions[action](run, by, now());
    if (next === undefined || (await runs.resume(next)).kind !== 'accepted') return;
    allowed.set(run.jobId, sent(run) + (action === 'again' ? 1 : 0));
  }

  return {
    untilMs: now() + 180 * MINUTE_MS,
    async begin() {
      const card = { key: 'r1.card', place: { channel: channel.id }, message: message(['An export']) };
      await anOutbox(redis).publish(teamId, { ...card, kind: 'state' }, 1);
      await accept(update('se_1'));
      plan(now() + Math.round(random() * one([1000, MINUTE_MS])), () => accept(update('se_2')));
    },
    async answer() {
      const all = await load();
      const open = all.find(({ state }) => state === 'unknown');
      if (open && now() >= open.sinceMs + 3000) await click(open, one(['ran', 'again', 'leave'] as const));
      const [first] = all;
      if (open !== undefined || returns === 0 || first?.newer === undefined) return open !== undefined;
      returns -= 1;
      await click(first, 'again');
      return true;
    },
    async check() {
      const all = (await load()).sort((a, b) => b.attemptAtMs - a.attemptAtMs);
      const problems = all.flatMap(({ jobId, state, ending, newer }, place) => {
        const wanted = place === 0 ? ['notified', 'left'] : ['replaced', 'superseded', 'left'];
        const shown = state === 'notified' && newer ? 'replaced' : (ending?.kind ?? state);
        // If the later start stays unclear, the deployment still has the one before.
        const isKept = place === 1 && shown === 'notified' && all[0]?.ending?.kind === 'left';
        return isKept || wanted.includes(shown) ? [] : [`${jobId}, place ${place}: ${shown}`];
      });
      for (const run of all) {
        const max = allowed.get(run.jobId) ?? 1;
        if (sent(run) > max) problems.push(`${run.jobId}: ${sent(run)} dispatches, ${max} allowed`);
        // Nothing else of it stays.
        const stays = messages.filter(({ key, isRemoved }) => key.startsWith(`${run.id}.`) && !isRemoved);
        const wanted = updateMessages(run).flatMap(({ key, retracted }) => (retracted ? [] : [key]));
        const [is, should] = [stays.map(({ key }) => key), wanted].map((keys) => keys.sort().join(', '));
        if (is !== should) problems.push(`${run.jobId} is shown by ${is}, not ${should}`);
      }
      const [newest] = all;
      if (newest === undefined || newest.state !== 'notified') return problems;
      const { workflow } = newest;
      if (workflow?.id && workflow.conclusion === undefined) problems.push('the run was not followed');
      for (const [id, same] of Map.groupBy(webhooks, (webhook) => webhook.id))
        if (new Set(same.map(({ body }) => body)).size > 1) problems.push(`${id} has several bodies`);
      const notices = webhooks
        .map(({ body }) => JSON.parse(body).data)
        .filter((one) => one.jobId === newest.jobId);
      const endsAtMs = Date.parse(notices.at(-1)?.expiresAt ?? '');
      if (deployment === 'production' && !(endsAtMs > now())) problems.push('it has no link that works');
      return problems;
    },
  };
}
