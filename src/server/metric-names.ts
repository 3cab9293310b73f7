import type { Registry } from '../commands/registry.ts';
import { docsApiErrorKinds } from '../docs-api/errors.ts';
import { OPERATIONS } from '../docs-api/operations.ts';
import { jobs } from '../jobs/index.ts';
import { queueNames } from '../jobs/queue.ts';
import type { MetricNames } from '../metrics/metrics.ts';
import { slackErrorKinds } from '../slack/errors.ts';
import { methodScopes } from '../slack/web-calls.ts';
import { urgencies } from '../store/messages.ts';
import { limitNames } from '../store/rate-limit.ts';
import { redisProblemKinds } from '../store/redis/problems.ts';
import { callProblems } from './call-problems.ts';

/** All values of the labels; without a registry, for a process that takes no requests. */
export const metricNames = (registry?: Registry): MetricNames => ({
  requests: registry === undefined ? [] : requestNames(registry),
  jobs: jobs.map(({ name }) => name),
  queues: queueNames,
  operations: Object.keys(OPERATIONS),
  docsErrors: docsApiErrorKinds,
  methods: Object.keys(methodScopes),
  slackErrors: slackErrorKinds,
  limits: limitNames,
  urgencies,
  problems: [
    ...callProblems,
    ...redisProblemKinds.map((kind) => `redis_${kind}`),
    ...['clock', 'digest_owner', 'disk', 'signature'],
  ],
});

const requestNames = ({ commands, buttons, modals, shortcuts, events }: Registry): string[] => [
  ...commands.map(({ name }) => name),
  ...buttons.map(({ action }) => action),
  ...modals.map(({ callbackId }) => callbackId),
  ...shortcuts.map(({ callbackId }) => callbackId),
  ...events.map(({ event }) => event),
];
