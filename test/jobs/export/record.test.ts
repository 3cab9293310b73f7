import { describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/commands/tools.ts';
import { type ExportTarget, exportRun, newExportRun } from '../../../src/jobs/export/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { wholeSite } from '../../support/jobs/export/builders.ts';

const everybody = { links: 'thread' as const, now: () => NOW_MS };

describe('the claim of an export', () => {
  const claimOf = (what: Partial<ExportTarget> = {}, caller = aCaller()) =>
    newExportRun({ ...wholeSite, ...what }, caller, everybody).claim;
  const paths = ['/api', '/guides'];

  test('is the same for the same project, domain, label and pages, whoever asks wherever', () => {
    const elsewhere = aCaller({ requestId: '9.9.z', user: ben, channel: { id: 'C0OTHER', name: 'other' } });
    expect(claimOf({}, elsewhere)).toBe(claimOf());
    expect(claimOf({ privately: true })).toBe(claimOf());
    expect(claimOf({ version: '1.2', paths })).toBe(claimOf({ version: '1.2', paths: [...paths].reverse() }));
  });

  test.each<[string, Partial<ExportTarget>]>([
    ['another project', { project: 'beta' }],
    ['another domain', { domain: 'api.acme.com' }],
    ['a label', { version: '1.2' }],
    ['some pages', { paths }],
    ['other pages', { paths: ['/api'] }],
  ])('is another one for %s', (_, what) => {
    const others = [claimOf(), claimOf({ version: '1.3' }), claimOf({ paths: ['/api', '/guides/x'] })];
    expect(others).not.toContain(claimOf(what));
  });

  test('is another one in another workspace', () => {
    expect(claimOf({}, aCaller({ teamId: 'T0OTHER' }))).not.toBe(claimOf());
  });

  test('of a job that is watched is for that job, whatever it exports', () => {
    const watch = (jobId: string, domain = '', project = 'acme') =>
      newExportRun({ project, domain, version: undefined, privately: false, jobId }, aCaller(), everybody)
        .claim;
    expect(watch('se_1', 'docs.acme.com')).toBe(watch('se_1'));
    expect(new Set([watch('se_1'), watch('se_2'), watch('se_1', '', 'beta'), claimOf()]).size).toBe(4);
  });
});

describe('a new run', () => {
  test('is one that the schema takes, and holds what was asked for', () => {
    const run = newExportRun({ ...wholeSite, version: '1.2', paths: ['/api'] }, aCaller(), everybody);
    expect(exportRun.parse(run)).toEqual(run);
    expect(run).toMatchObject({
      rev: 1,
      state: 'accepted',
      people: ['U0ANA'],
      project: 'acme',
      domain: 'docs.acme.com',
      version: '1.2',
      paths: ['/api'],
      joined: false,
    });
  });

  test('of a job that exists is one that the schema takes, and starts none', () => {
    const what = { project: 'acme', domain: '', version: undefined, privately: false, jobId: 'se_1' };
    const run = newExportRun(what, aCaller(), everybody);
    expect(exportRun.parse(JSON.parse(JSON.stringify(run)))).toMatchObject({ joined: true, jobId: 'se_1' });
  });

  test('has the same id for the same request, and another one for another', () => {
    const idOf = (changes: Partial<Caller> = {}) => newExportRun(wholeSite, aCaller(changes), everybody).id;
    expect(idOf({ receivedAtMs: 99, user: ben })).toBe(idOf());
    expect(new Set([idOf(), idOf({ requestId: '1.2.b' }), idOf({ teamId: 'T0OTHER' })]).size).toBe(3);
  });

  test.each([
    ['everybody', {}, 'thread', true, false],
    ['the requester, as asked', { privately: true }, 'thread', true, true],
    ['the requester, as the settings say', {}, 'requester', true, true],
    ['the requester, who is a guest', {}, 'thread', false, true],
  ] as const)('has its link for %s', (_, what, links, fullMember, privately) => {
    const caller = aCaller({ user: { id: 'U0ANA', name: 'ana', fullMember } });
    const tools = { ...everybody, links };
    expect(newExportRun({ ...wholeSite, ...what }, caller, tools).privately).toBe(privately);
    const joined = {
      project: 'acme',
      domain: '',
      version: undefined,
      privately: false,
      ...what,
      jobId: 'se_1',
    };
    expect(newExportRun(joined, caller, tools).privately).toBe(privately);
  });

  test.each([
    ['docs', { joinable: true, isPublic: true }],
    ['privategroup', { joinable: true, isPublic: false }],
    ['', { joinable: true, isPublic: false }],
    ['directmessage', { joinable: false, isPublic: false }],
    ['mpdm-ana--ben-1', { joinable: false, isPublic: false }],
  ])('knows what kind of place it was asked for in: %s', (name, place) => {
    const caller = aCaller({ channel: { id: 'C0DOCS', name } });
    expect(newExportRun(wholeSite, caller, everybody).asked).toMatchObject(place);
  });
});
