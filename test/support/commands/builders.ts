import { z } from 'zod';
import { defineCommand, optional, type SlashCommand, subcommand } from '../../../src/commands/command.ts';
import type { Caller } from '../../../src/commands/intake.ts';
import {
  defineButton,
  type EventListener,
  type MessageShortcut,
  type Modal,
  type ModalDetails,
} from '../../../src/commands/registry.ts';
import type { Project } from '../../../src/projects.ts';
import { type Message, message } from '../../../src/slack/blocks.ts';

/** Ana, in a public channel. */
export const aCaller = (changes: Partial<Caller> = {}): Caller => ({
  teamId: 'T0ACME',
  user: { id: 'U0ANA', name: 'ana', fullMember: true },
  channel: { id: 'C0DOCS', name: 'docs' },
  requestId: '1.2.a',
  triggerId: '1.2.a',
  responseUrl: 'https://hooks.example/1',
  receivedAtMs: 0,
  ...changes,
});

export const ben = { id: 'U0BEN', name: 'ben', fullMember: true };
/** A guest. */
export const gus = { id: 'U0GUS', name: 'gus', fullMember: false };

export const aProject = (changes: Partial<Project> = {}): Project => ({
  name: 'default',
  projectId: undefined,
  domains: undefined,
  apiKey: 'adm_1',
  apiKeyVariable: 'DOCS_API_KEY',
  channels: [],
  ...changes,
});

export const acme = aProject({ name: 'acme', domains: ['docs.acme.com', 'api.acme.com'] });
export const beta = aProject({ name: 'beta', domains: ['docs.beta.io'], channels: ['C0BETA'] });

export const origin = { channel: { id: 'C0DOCS', name: 'docs' }, responseUrl: 'https://hooks.example/1' };
export const ana = { id: 'U0ANA', name: 'Ana', fullMember: true, active: true };
export const done = message([['Done']]);

/** A submitted modal without checkboxes, about nothing in particular. */
export const noDetails: ModalDetails = { ticked: {}, about: undefined };

/** What Slack sends of a command that Ana types in #docs. */
export const typedByAna = {
  team_id: 'T0ACME',
  user_id: 'U0ANA',
  user_name: 'ana',
  channel_id: 'C0DOCS',
  channel_name: 'docs',
  trigger_id: '1.2.a',
  response_url: 'https://hooks.example/1',
};

/** Returns a `run` that answers with this, and how often it ran. */
export function counted<T>(answer: T) {
  let times = 0;
  const run = async () => {
    times += 1;
    return answer;
  };
  return { run, ran: () => times };
}

/** A command that takes whatever is typed after it. */
export const aCommand = ({
  summary = 'Tests.',
  run = async () => done,
}: Partial<Pick<SlashCommand, 'summary' | 'run'>> = {}) =>
  defineCommand({
    name: '/docs-test',
    summary,
    may: 'export',
    subcommands: [
      subcommand({
        args: { text: optional('text', '[domain]') },
        flags: {},
        summary: 'Test',
        example: '/docs-test docs.acme.com',
        run: ({ text = '' }, caller, tools) => run(text, caller, tools),
      }),
    ],
  });
export const aButton = (action = 'test.go', run: () => Promise<Message | undefined> = async () => done) =>
  defineButton({ action, may: 'export', value: z.object({ v: z.literal(1) }), run });

export const aShortcut = (
  run: MessageShortcut['run'] = async () => done,
  callback = 'test.message',
): MessageShortcut => ({ callbackId: callback, may: 'agent', run });

export const aModal = (
  submit: Modal['submit'] = async () => ({ kind: 'closed' }),
  callback = 'test.dialog',
): Modal => ({ callbackId: callback, may: 'export', submit });

/** A listener that keeps what it is given, or rejects. */
export const anEventListener = (event: string, handle: EventListener['handle']): EventListener => ({
  event,
  subscriptions: {},
  handle,
});
