import { expect, test } from 'vitest';
import { modal, startViews } from '../test-support/views.ts';

test.each([
  [
    'errors for no input',
    { response_action: 'errors', errors: { nothing: 'x' } },
    'errors for no input: nothing',
  ],
  [
    'a broken view',
    { response_action: 'update', view: { type: 'modal' } },
    'answered with invalid_arguments',
  ],
  ['no action', { text: 'thanks' }, 'answered with invalid_json'],
  ['no errors', { response_action: 'errors' }, 'answered with errors that are none'],
  ['empty errors', { response_action: 'errors', errors: {} }, 'answered with errors that are none'],
  [
    'an empty error',
    { response_action: 'errors', errors: { name: '' } },
    'answered with errors that are none',
  ],
])('a submission answered with %s is a violation', async (_, body, why) => {
  const { slack, ana, opens } = await startViews(({ json }) =>
    json.type === 'view_submission' ? { body } : {},
  );
  await opens(modal());
  await ana.submits({ name: 'x' });
  expect(slack.violations).toEqual([`view_submission: ${why}`]);
});
