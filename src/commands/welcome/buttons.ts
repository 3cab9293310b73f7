import { z } from 'zod';
import { overviewMessage } from '../../jobs/help-view.ts';
import { welcomeActions } from '../../jobs/welcome/record.ts';
import { defineButton } from '../registry.ts';

/** [How it works]: shows help. */
export const howButton = defineButton({
  action: welcomeActions.how,
  may: 'status',
  value: z.unknown(),
  run: async () => overviewMessage,
});
