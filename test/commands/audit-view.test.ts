import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../demo/slack/notifies.ts';
import type { Block } from '../../demo/slack/workspace.ts';
import { auditMessage } from '../../src/commands/audit-view.ts';
import type { AuditEntry } from '../../src/store/audit.ts';
import { hostileText, NOW_MS } from '../jobs/export/any-run.ts';

const anEntry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  atMs: NOW_MS,
  user: { id: 'U0ANA', name: 'ana' },
  channel: 'C0DOCS',
  what: 'export',
  subject: 'docs.acme.com',
  job: 'se_3f9a77bd04c24a06',
  result: 'ended: done',
  ...changes,
});
const reads = (...entries: AuditEntry[]) =>
  auditMessage(entries)
    .text.replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME')
    .split('\n');

test('a line says when, who, where, what, about what, by which job, and what came of it', () => {
  expect(reads(anEntry())).toEqual([
    'TIME · @ana · <#C0DOCS> · export · docs.acme.com · job se_3f9a77bd04c24a06 · ended: done',
  ]);
});

test('what a line does not have is left out', () => {
  const { job: _, ...entry } = anEntry({ channel: '', subject: '' });
  expect(reads(entry)).toEqual(['TIME · @ana · export · ended: done']);
  expect(reads({ ...entry, user: { id: 'U0ANA', name: '' } })).toEqual([
    'TIME · @U0ANA · export · ended: done',
  ]);
});

test.each([
  ['D0ANA', 'direct message'],
  ['G0GROUP', '<#G0GROUP>'],
  ['C0<!here>', 'C0&lt;!here&gt;'],
])('the place %s is shown as %s', (channel, shown) => {
  expect(reads(anEntry({ channel }))[0]).toContain(` · @ana · ${shown} · export`);
});

test('an empty log says so', () => {
  expect(reads()).toEqual(['Nothing is in the audit log yet.']);
});

test('fifty usual lines fit; of fifty long ones those that do not are counted', () => {
  const usual = JSON.stringify(auditMessage(Array.from({ length: 50 }, () => anEntry())).blocks);
  expect(usual.split('job se_3f9a77bd04c24a06')).toHaveLength(51);
  expect(usual).not.toContain("don't fit");
  const long = anEntry({ subject: '&'.repeat(200), result: '<'.repeat(200) });
  const message = auditMessage(Array.from({ length: 50 }, () => long));
  expect(() => checkMessageBlocks(message.blocks, (prefix) => prefix)).not.toThrow();
  const shown = JSON.stringify(message.blocks);
  expect(shown).toMatch(/"\d+ older ones don't fit into one message\."/);
  const lines = shown.split('job se_3f9a77bd04c24a06').length - 1;
  const rest = Number(/"(\d+) older/.exec(shown)?.[1]);
  expect(lines).toBeGreaterThan(5);
  expect(lines + rest).toBe(50);
});

test('whatever is in the log, Slack takes the message and nobody is notified', () => {
  const entry = fc
    .record({
      atMs: fc.integer({ min: 0, max: Date.UTC(2200, 0) }),
      user: fc.record({ id: hostileText, name: hostileText }),
      channel: fc.oneof(fc.constantFrom('', 'C0DOCS', 'G0X', 'D0ANA'), hostileText),
      what: hostileText,
      subject: hostileText,
      job: fc.option(hostileText, { nil: undefined }),
      result: hostileText,
    })
    .map(({ job, ...rest }): AuditEntry => ({ ...rest, ...(job !== undefined && { job }) }));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 50 }), (entries) => {
      const { text, blocks } = auditMessage(entries);
      expect(checkMessageBlocks(blocks, (prefix) => prefix)).toHaveLength(1);
      expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
    }),
  );
});
