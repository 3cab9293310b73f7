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

describe('a file that cannot be used is reported with the place and the fix:', () => {
  test.each([
    ['', 'is empty. Add settings, or unset DOCKET_CONFIG.'],
    ['- acme', 'must be a map of settings. Begin it with a line such as "projects:".'],
    ['links: thread\n\nlink: thread', 'link is not a setting. docs/settings.md lists those of the file.'],
    ['links: off', 'links must be thread or requester. The default is thread.'],
    ['replies: no', 'replies must be auto, all or mention. The default is auto.'],
    ['whileWorking: stop', 'whileWorking must be wait or send. The default is wait.'],
    ['context: yes', 'context must be ask or never. The default is ask.'],
    ['contact: 5', `contact ${contact}`],
    ['contact: "  "', `contact ${contact}`],
    [`contact: ${'a'.repeat(81)}`, `contact ${contact}`],
    ['contact: "<!subteam^S0DOCS>"', `contact ${contact}`],
    ['contact: C0123ABCD', `contact ${contact}`],
    ['projects: [acme]', 'projects must be a map. Put each project under its own name.'],
    ['projects: {}', 'projects has no project. Add one, or remove it to use the project of the environment.'],
    ['projects:\n  acme:', `projects.acme ${map}`],
    ['projects:\n  acme docs: {}', `projects."acme docs" ${untypable}`],
    [`projects:\n  ${'a'.repeat(41)}: {}`, `projects."${'a'.repeat(40)}" ${untypable}`],
    [
      'projects:\n  acme: {}\n  ACME: {}',
      'projects.ACME differs from acme only in capitals, which --project ignores. Choose another.',
    ],
    [
      inProject('project_id: x'),
      'projects.acme.project_id is not a setting. docs/settings.md lists those of the file.',
    ],
    [inProject('projectId: 0123'), 'projects.acme.projectId must be text. Put the id in quotes.'],
    [inProject('projectId: https://docs.example/prj_1'), `projects.acme.projectId ${projectId}`],
    [inProject('domains: docs.acme.com'), `projects.acme.domains ${list}`],
    [
      inProject('domains:\n    - docs.acme.com\n    - https://docs.acme.com/v2'),
      'projects.acme.domains[1] must be a host name only. Did you mean docs.acme.com?',
    ],
    [inProject('domains: ["*.acme.com"]'), `projects.acme.domains[0] ${hostName}`],
    [inProject('channels: ["#docs"]'), `projects.acme.channels[0] ${channelId}`],
    [inProject('channels: [U0123ABC]'), `projects.acme.channels[0] ${channelId}`],
    [
      'projects:\n  a: { channels: [C0123] }\n  b: { channels: [C0456, C0123] }',
      'projects.b.channels[1] is already a channel of the project a. A channel has one default project: keep one.',
    ],
    ['allow: everyone', `allow ${map}`],
    ['allow: { export: everyone }', `allow.export ${list}`],
    ['allow:\n  agent: [U0ANA, Everyone]', `allow.agent[1] ${whoId}`],
    ['limits: { exportStatusPerSecond: 0 }', `limits.exportStatusPerSecond ${perSecond}`],
    ['limits: { exportStatusPerSecond: .nan }', `limits.exportStatusPerSecond ${perSecond}`],
    [
      'limits: { followUpsPerHour: 1.5 }',
      'limits.followUpsPerHour must be a whole number from 1 to 10000. The default is 100.',
    ],
    ['limits: { watchHours: 169 }', 'limits.watchHours must be a number from 0.1 to 168. The default is 6.'],
  ])('%j: %s', (text, problem) => {
    expect(problemsIn(text)).toEqual([`docket.yml ${problem}`]);
  });

  test.each([
    ['links: "thread', '1:15'],
    ['links: thread\nlinks: thread', '2:1'],
    ['allow:\n\tadmin: []', '2:1'],
    ['allow:\n  export: &docs [S0DOCS]\n  agent: *docs', '3:10'],
  ])('%j is broken at %s', (text, place) => {
    expect(problemsIn(text)).toEqual([`docket.yml:${place} ${notYaml}`]);
  });
});
