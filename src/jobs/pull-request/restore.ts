import { defineRestore } from '../engine/restore.ts';
import { type PullRequestRun, pullRequestRun } from './record.ts';

export const pullRequestRestore = defineRestore<PullRequestRun>({
  job: 'pull-request',
  schema: pullRequestRun,
  keys: ({ id, failures }) => ['ended', 'reminder', `checks.${failures + 1}`].map((name) => `${id}.${name}`),
});
