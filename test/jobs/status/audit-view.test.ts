import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { auditMessage } from '../../../src/jobs/status/view.ts';
import type { AuditEntry, AuditLines } from '../../../src/store/audit.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { anAuditEntry } from '../../support/store/builders.ts';

const anEntry = (changes: Partial<AuditEntry> = {}) =>
  anAuditEntry({ what: 'export', job: 'se_3f9a77bd04c24a06', result: 'ended: done', ...changes });
const reads = (...done: AuditEntry[]) => readsAll({ done, refused: [] });
const readsAll = (lines: AuditLines) =>
  auditMessage(lines)
    .text.replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME')
    .split('\n');

test('what people chose and typed cannot be read as another field, another person or another line', () => {
  const forged = anEntry({
    user: { id: 'U0EVE', name: 'ana" · <#C0DOCS> · export\nToday · U0ANA "ana' },
    subject: 'docs.acme.com" · job "se_1" · ended: done \u2028 x\u200B',
    job: 'se_2" · accepted',
  });
  expect(reads(forged)).toEqual([
    'TIME · U0EVE "ana\' · &lt;#C0DOCS&gt; · export Today · U0ANA \'ana" · <#C0DOCS> · export · ' +
      '"docs.acme.com\' · job \'se_1\' · ended: done x" · job "se_2\' · accepted" · ended: done',
  ]);
  expect(reads(anEntry({ user: { id: 'U0 "ana', name: 'ana' } }))[0]).toContain(' · "U0 \'ana" "ana" · ');
});

test('however much was refused, most of the room is for what was done', () => {
  const long = anEntry({ subject: '&'.repeat(200), result: `refused: ${'<'.repeat(200)}` });
  const refused = Array.from({ length: 50 }, () => long);
  const { blocks } = auditMessage({ done: Array.from({ length: 50 }, () => anEntry()), refused });
  expect(() => checkMessageBlocks(blocks, (prefix) => prefix)).not.toThrow();
  expect(JSON.stringify(blocks).split('ended: done').length - 1).toBeGreaterThan(40);
  expect(JSON.stringify(blocks)).toMatch(/\d+ older lines don't fit in one message\./);
});

test.each([
  ['D0ANA', 'direct message'],
  ['G0GROUP', '<#G0GROUP>'],
  ['C0<!here>', '"C0&lt;!here&gt;"'],
  ['D0 · x', '"D0 · x"'],
])('the place %s is shown as %s', (channel, shown) => {
  expect(reads(anEntry({ channel }))[0]).toContain(` · U0ANA "ana" · ${shown} · export`);
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
    fc.property(fc.array(entry, { maxLength: 50 }), fc.array(entry, { maxLength: 50 }), (done, refused) => {
      const { text, blocks } = auditMessage({ done, refused });
      expect(checkMessageBlocks(blocks, (prefix) => prefix)).toHaveLength(1);
      expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
    }),
  );
});
