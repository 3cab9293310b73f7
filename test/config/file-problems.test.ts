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
const perHour = 'must be a whole number from 1 to 10000. The default is 100.';
const hours = 'must be a number from 0.1 to 168. The default is 6.';
const untypable = 'cannot be typed after --project. Use 1 to 40 letters from a to z, digits, - or _.';

describe('a file that cannot be used is reported with the line and the fix:', () => {
  test.each([
    ['', '1 is empty. Add settings, or unset DOCKET_CONFIG.'],
    ['# links: thread', '1 is empty. Add settings, or unset DOCKET_CONFIG.'],
    ['- acme', '1 must be a map of settings. Begin it with a line such as "projects:".'],
    ['acme', '1 must be a map of settings. Begin it with a line such as "projects:".'],
    [
      'links: "thread',
      '1:15 is not YAML: a colon, a quote, a bracket or a space before # is missing. Add it.',
    ],
    ['links: thread\n\nlink: thread', '3 link is not a setting. Did you mean links?'],
    [
      'colour: red',
      '1 colour is not a setting. Known here: projects, allow, links, replies, limits, contact.',
    ],
    [
      'toString: 1',
      '1 toString is not a setting. Known here: projects, allow, links, replies, limits, contact.',
    ],
    ['__proto__: 1', '1 __proto__ is a name that cannot be used. Choose another.'],
    ['links: thread\nlinks: thread', '2 links appears twice, first in line 1. Keep one.'],
    ['links: off', '1 links must be thread or requester. The default is thread.'],
    ['links:', '1 links is empty. Fill it in, or remove it.'],
    ['replies: no', '1 replies must be auto, all or mention. The default is auto.'],
    ['contact: 5', `1 contact ${contact}`],
    ['contact: [S0DOCS]', `1 contact ${contact}`],
    ['contact: "  "', `1 contact ${contact}`],
    [`contact: ${'a'.repeat(81)}`, `1 contact ${contact}`],
    [`contact: ${'a '.repeat(20_000)}`, `1 contact ${contact}`],
    [
      'contact: "<!subteam^S0DOCS>"',
      '1 contact must be the id alone, such as S0DOCS, or a text such as "@docs-admins".',
    ],
    [
      'contact: C0123ABCD',
      '1 contact is the id of a channel, which people cannot read. Write its name, such as "#docs-help".',
    ],
    ['projects: [acme]', '1 projects must be a map. Put each project under its own name.'],
    [
      'projects: {}',
      '1 projects has no project. Add one, or remove it to use the project of the environment.',
    ],
    ['projects:\n  acme:', '2 projects.acme is empty. Fill it in, or remove it.'],
    ['projects:\n  acme: docs.acme.com', `2 projects.acme ${map}`],
    ['projects:\n  acme docs: {}', `2 projects."acme docs" ${untypable}`],
    ['projects:\n  акме: {}', `2 projects."акме" ${untypable}`],
    ['projects:\n  "": {}', `2 projects."" ${untypable}`],
    [`projects:\n  ${'a'.repeat(41)}: {}`, `2 projects."${'a'.repeat(40)}" ${untypable}`],
    ['projects:\n  "a\\u202Eb\\n": {}', `2 projects."ab\\n" ${untypable}`],
    [
      'projects:\n  __proto__: {}\n  a: {}',
      '2 projects.__proto__ is a name that cannot be used. Choose another.',
    ],
    [
      'projects:\n  acme: {}\n  ACME: {}',
      '3 projects.ACME differs from acme only in capitals, which --project ignores. Choose another.',
    ],
    [inProject('domain: [a.io]'), '3 projects.acme.domain is not a setting. Did you mean domains?'],
    [inProject('project_id: x'), '3 projects.acme.project_id is not a setting. Did you mean projectId?'],
    [inProject('projectId: 0123'), '3 projects.acme.projectId must be text. Put the id in quotes.'],
    [inProject('projectId: https://docs.example/prj_1'), `3 projects.acme.projectId ${projectId}`],
    [inProject('projectId: ""'), `3 projects.acme.projectId ${projectId}`],
    [inProject('domains: docs.acme.com'), `3 projects.acme.domains ${list}`],
    [
      inProject('domains:\n    - docs.acme.com\n    - https://docs.acme.com/v2'),
      '5 projects.acme.domains[1] must be a host name only. Did you mean docs.acme.com?',
    ],
    [
      inProject('domains: [localhost]'),
      '3 projects.acme.domains[0] must be a host name. Write it like docs.example.com.',
    ],
    [
      inProject('domains: ["*.acme.com"]'),
      '3 projects.acme.domains[0] must be a host name. Write it like docs.example.com.',
    ],
    [
      inProject('domains: [1.5]'),
      '3 projects.acme.domains[0] must be a host name. Write it like docs.example.com.',
    ],
    [
      inProject('domains: [docs.acme.com, a.io, DOCS.acme.com]'),
      '3 projects.acme.domains[2] is in this list twice. Remove one.',
    ],
    [inProject('channels: ["#docs"]'), `3 projects.acme.channels[0] ${channelId}`],
    [inProject('channels:\n    - #docs'), `4 projects.acme.channels[0] ${channelId}`],
    [inProject('channels: [c0123abc]'), `3 projects.acme.channels[0] ${channelId}`],
    [inProject('channels: [U0123ABC]'), `3 projects.acme.channels[0] ${channelId}`],
    [inProject('channels:'), '3 projects.acme.channels is empty. Fill it in, or remove it.'],
    [inProject('channels: [C0123, C0123]'), '3 projects.acme.channels[1] is in this list twice. Remove one.'],
    [
      'projects:\n  a: { channels: [C0123] }\n  b: { channels: [C0456, C0123] }',
      '3 projects.b.channels[1] is already a channel of the project a. A channel has one default project: keep one.',
    ],
    ['allow: everyone', `1 allow ${map}`],
    ['allow: { admins: [U0ANA] }', '1 allow.admins is not a setting. Did you mean admin?'],
    ['allow: { export: everyone }', `1 allow.export ${list}`],
    ['allow:\n  agent: ["@ana"]', `2 allow.agent[0] ${whoId}`],
    ['allow:\n  agent: [U0ANA, Everyone]', `2 allow.agent[1] ${whoId}`],
    ['allow:\n  agent: [C0123ABC]', `2 allow.agent[0] ${whoId}`],
    ['allow:\n  agent: [yes]', `2 allow.agent[0] ${whoId}`],
    [
      'allow:\n  export: &docs [S0DOCS]\n  agent: *docs',
      '3 allow.agent is an alias, which Docket does not read. Write the value out.',
    ],
    ['limits: 5', `1 limits ${map}`],
    ['limits: { watchHour: 1 }', '1 limits.watchHour is not a setting. Did you mean watchHours?'],
    ['limits: { exportStatusPerSecond: 0 }', `1 limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { exportStatusPerSecond: 100.1 }', `1 limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { exportStatusPerSecond: .inf }', `1 limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { exportStatusPerSecond: .nan }', `1 limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { exportStatusPerSecond: "5" }', `1 limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { followUpsPerHour: 0 }', `1 limits.followUpsPerHour ${perHour}`],
    ['limits: { followUpsPerHour: 1.5 }', `1 limits.followUpsPerHour ${perHour}`],
    ['limits: { analyticsPerHour: 10001 }', `1 limits.analyticsPerHour ${perHour}`],
    [
      'limits: { exportsPerPerson: 0 }',
      '1 limits.exportsPerPerson must be a whole number from 1 to 1000. The default is 10.',
    ],
    [
      'limits: { exportsPerChannel: 1001 }',
      '1 limits.exportsPerChannel must be a whole number from 1 to 1000. The default is 30.',
    ],
    [
      'limits: { instructionCharacters: 40001 }',
      '1 limits.instructionCharacters must be a whole number from 1 to 40000. The default is 8000.',
    ],
    [
      'limits: { instructionsWaiting: 1.5 }',
      '1 limits.instructionsWaiting must be a whole number from 1 to 1000. The default is 100.',
    ],
    ['limits: { watchHours: 0.09 }', `1 limits.watchHours ${hours}`],
    ['limits: { watchHours: 169 }', `1 limits.watchHours ${hours}`],
    ['limits: { watchHours: -1 }', `1 limits.watchHours ${hours}`],
  ])('%j: line %s', (text, problem) => {
    expect(problemsIn(text)).toEqual([`docket.yml:${problem}`]);
  });

  test('everything at once, in the order of the lines, a thing once', () => {
    const text = `
replies: loud
projects:
  acme:
    apiKey: { env: GONE_KEY }
    domains: [docs.acme.com, docs.acme.com, "*", *x]
  ACME: {}
  acme: {}
limit: {}
`;
    expect(problemsIn(text)).toEqual([
      'docket.yml:2 replies must be auto, all or mention. The default is auto.',
      'docket.yml:5 projects.acme.apiKey.env names an environment variable that is not set. Set it to an admin API key.',
      'docket.yml:6 projects.acme.domains[3] is an alias, which Docket does not read. Write the value out.',
      'docket.yml:6 projects.acme.domains[2] must be a host name. Write it like docs.example.com.',
      'docket.yml:6 projects.acme.domains[1] is in this list twice. Remove one.',
      'docket.yml:7 projects.ACME differs from acme only in capitals, which --project ignores. Choose another.',
      'docket.yml:8 projects.acme appears twice, first in line 4. Keep one.',
      'docket.yml:9 limit is not a setting. Did you mean limits?',
    ]);
  });
});
