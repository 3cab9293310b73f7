import type { Caller } from '../../../src/commands/intake.ts';
import type { ModalDetails } from '../../../src/commands/registry.ts';
import type { Project } from '../../../src/projects.ts';

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
