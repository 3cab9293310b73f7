import { expect, test } from 'vitest';
import { digestCommands } from '../../../src/commands/digest/command.ts';
import { digestActions } from '../../../src/jobs/digest/buttons.ts';

test('every button of a schedule wants the permission', () => {
  const { askAgent, openThread: _, ...actions } = digestActions;
  const buttons = digestCommands.buttons.filter(({ action }) => action !== askAgent);
  expect(buttons.map(({ action, may }) => [action, may]).toSorted()).toEqual(
    Object.values(actions)
      .map((action) => [action, 'digest'])
      .toSorted(),
  );
});
