import { expect, test } from 'vitest';
import { scheduleButtons } from '../../../src/commands/digest/buttons.ts';

const names = ['preview', 'sendNow', 'change', 'pause', 'resume', 'remove', 'takeOver'] as const;

test('every button of a schedule wants the permission', () => {
  expect(scheduleButtons.map(({ may }) => may)).toEqual(names.map(() => 'digest'));
});
