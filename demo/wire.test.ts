import { expect, test } from 'vitest';
import { createStandInPlatform } from './docs-platform/platform.ts';
import type { Fault } from './wire.ts';

const START = 'POST /v1/static-export/jobs';

async function startWith(fault: Fault) {
  const platform = createStandInPlatform();
  platform.wire.order(START, fault);
  const answer = await platform.fetch('https://platform.invalid/v1/static-export/jobs', {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'docs.acme.com' }),
  });
  const { headers, status } = answer;
  return {
    status,
    type: headers.get('content-type'),
    text: await answer.text(),
    starts: platform.starts.length,
    outcome: platform.wire.calls[0]?.outcome,
  };
}

test('an ordered answer comes instead of the real one, and nothing happens', async () => {
  expect(await startWith({ kind: 'answer', status: 503, body: { error: 'Busy' } })).toEqual({
    status: 503,
    type: 'application/json',
    text: '{"error":"Busy"}',
    starts: 0,
    outcome: '503',
  });
});

test('it may come after the call took effect', async () => {
  const fault: Fault = { kind: 'answer', status: 502, when: 'after' };
  expect(await startWith(fault)).toMatchObject({ status: 502, text: '{}', starts: 1, outcome: '502' });
});

test('it may be a page of a proxy, or no JSON of another type', async () => {
  const page = { kind: 'answer', status: 200, text: '<html>Hello</html>' } as const;
  expect(await startWith(page)).toMatchObject({
    status: 200,
    type: 'text/html; charset=utf-8',
    text: '<html>Hello</html>',
    starts: 0,
  });
  const typed = { ...page, headers: { 'content-type': 'application/json' } };
  expect(await startWith(typed)).toMatchObject({ type: 'application/json', text: '<html>Hello</html>' });
});
