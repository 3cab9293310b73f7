import { expect, test } from 'vitest';
import { firstLine } from '../../src/deployments/sender.ts';
import { oneLine } from '../../src/docs-api/text.ts';
import { hideSecrets } from '../../src/runtime/secrets.ts';

test.each([
  ['X-Amz-Signature=0123abc does not match', 'X-Amz-Signature=… does not match'],
  ['no match: #token=0123abc.', 'no match: #token=…'],
  ['sent Authorization: Basic dXNlcjpwYXNz', 'sent Authorization: Basic …'],
  ['remote: ghp_0123456789abcdef denied', 'remote: … denied'],
  ['github_pat_11AA_0123456789 has expired', '… has expired'],
  ['x-api-key: 0123abc is wrong', 'x-api-key: … is wrong'],
  ['{"X-Api-Key":"0123abc","page":3}', '{"X-Api-Key":"…","page":3}'],
  ['client_secret=0123abc; retry', 'client_secret=…; retry'],
])("%s has no secret in a receiver's words, a build's or the log", (text, clean) => {
  for (const hide of [hideSecrets, oneLine, (line: string) => firstLine(line, [])])
    expect(hide(text)).toBe(clean);
});

test('words that are no secret stay', () => {
  for (const text of ['3 tokens left: config=a', 'Set SLACK_BOT_TOKEN: it is missing.', 'no signature, 401'])
    expect(hideSecrets(text)).toBe(text);
});
