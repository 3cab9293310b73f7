import { describe, expect, test } from 'vitest';
import { inProject, problemsIn } from '../support/config/file.ts';

const channelId =
  "must be a channel's id, not its name. In Slack, open the channel's details: the id, such as C0123ABCD, is at the end of About.";
const whoId =
  "must be everyone or an id, not a name. A person's (U…): their profile, ⋮, Copy member ID. A user group's (S…): its page in the directory, ⋮, Copy group ID.";
const contact =
  'must be a contact: the id of a person (U…) or of a user group (S…), or up to 80 characters such as "@docs-admins".';
const projectId = "must be the project's id, without spaces and slashes. Copy it from the docs platform.";
const map = 'must be a map. Below it, write one name: value per line.';
const list = 'must be a list. Put it in [ ].';
const perSecond = 'must be a number above 0 and up to 100. The default is 5.';
const untypable = 'cannot be typed after --project. Use 1 to 40 letters from a to z, digits, - or _.';
const notYaml =
  'is not YAML that Docket reads. Check the indentation, the quotes and the punctuation up to here, and write aliases out.';
const hostName = 'must be a host name. Write it like docs.example.com.';

describe('a file that cannot be used is reported with the line and the fix:', () => {
  test.each([
    ['', '1 is empty. Add settings, or unset DOCKET_CONFIG.'],
    ['- acme', '1 must be a map of settings. Begin it with a line such as "projects:".'],
    ['links: "thread', `1:15 ${notYaml}`],
    ['links: thread\nlinks: thread', `2:1 ${notYaml}`],
    ['allow:\n\tadmin: []', `2:1 ${notYaml}`],
    ['allow:\n  export: &docs [S0DOCS]\n  agent: *docs', `3:10 ${notYaml}`],
    [
      'links: thread\n\nlink: thread',
      '3 link is not a setting. Known here: projects, allow, links, replies, limits, contact.',
    ],
    ['links: off', '1 links must be thread or requester. The default is thread.'],
    ['replies: no', '1 replies must be auto, all or mention. The default is auto.'],
    ['contact: 5', `1 contact ${contact}`],
    ['contact: "  "', `1 contact ${contact}`],
    [`contact: ${'a'.repeat(81)}`, `1 contact ${contact}`],
    ['contact: "<!subteam^S0DOCS>"', `1 contact ${contact}`],
    ['contact: C0123ABCD', `1 contact ${contact}`],
    ['projects: [acme]', '1 projects must be a map. Put each project under its own name.'],
    [
      'projects: {}',
      '1 projects has no project. Add one, or remove it to use the project of the environment.',
    ],
    ['projects:\n  acme:', `2 projects.acme ${map}`],
    ['projects:\n  acme docs: {}', `2 projects."acme docs" ${untypable}`],
    [`projects:\n  ${'a'.repeat(41)}: {}`, `2 projects."${'a'.repeat(40)}" ${untypable}`],
    [
      'projects:\n  acme: {}\n  ACME: {}',
      '3 projects.ACME differs from acme only in capitals, which --project ignores. Choose another.',
    ],
    [
      inProject('project_id: x'),
      '3 projects.acme.project_id is not a setting. Known here: projectId, organization, domains, apiKey, channels.',
    ],
    [inProject('projectId: 0123'), '3 projects.acme.projectId must be text. Put the id in quotes.'],
    [inProject('projectId: https://docs.example/prj_1'), `3 projects.acme.projectId ${projectId}`],
    [inProject('domains: docs.acme.com'), `3 projects.acme.domains ${list}`],
    [
      inProject('domains:\n    - docs.acme.com\n    - https://docs.acme.com/v2'),
      '5 projects.acme.domains[1] must be a host name only. Did you mean docs.acme.com?',
    ],
    [inProject('domains: ["*.acme.com"]'), `3 projects.acme.domains[0] ${hostName}`],
    [inProject('channels: ["#docs"]'), `3 projects.acme.channels[0] ${channelId}`],
    [inProject('channels: [U0123ABC]'), `3 projects.acme.channels[0] ${channelId}`],
    [
      'projects:\n  a: { channels: [C0123] }\n  b: { channels: [C0456, C0123] }',
      '3 projects.b.channels[1] is already a channel of the project a. A channel has one default project: keep one.',
    ],
    ['allow: everyone', `1 allow ${map}`],
    ['allow: { export: everyone }', `1 allow.export ${list}`],
    ['allow:\n  agent: [U0ANA, Everyone]', `2 allow.agent[1] ${whoId}`],
    ['limits: { exportStatusPerSecond: 0 }', `1 limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { exportStatusPerSecond: .nan }', `1 limits.exportStatusPerSecond ${perSecond}`],
    [
      'limits: { followUpsPerHour: 1.5 }',
      '1 limits.followUpsPerHour must be a whole number from 1 to 10000. The default is 100.',
    ],
    [
      'limits: { watchHours: 169 }',
      '1 limits.watchHours must be a number from 0.1 to 168. The default is 6.',
    ],
  ])('%j: line %s', (text, problem) => {
    expect(problemsIn(text)).toEqual([`docket.yml:${problem}`]);
  });

  test('everything at once, in the order of the lines', () => {
    const text = `
replies: loud
projects:
  acme:
    apiKey: { env: GONE_KEY }
    domains: [docs.acme.com, "*"]
limit: {}
`;
    expect(problemsIn(text)).toEqual([
      'docket.yml:2 replies must be auto, all or mention. The default is auto.',
      'docket.yml:5 projects.acme.apiKey names an environment variable that is not set. Set it to an admin API key.',
      `docket.yml:6 projects.acme.domains[1] ${hostName}`,
      'docket.yml:7 limit is not a setting. Known here: projects, allow, links, replies, limits, contact.',
    ]);
  });
});
