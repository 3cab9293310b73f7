import { z } from 'zod';
import { welcomeActions } from '../../jobs/welcome/record.ts';
import { helpMessage } from '../command.ts';
import { exportCommand } from '../export/command.ts';
import { defineButton } from '../registry.ts';

/** [How it works]: what help says. */
export const howButton = defineButton({
  action: welcomeActions.how,
  may: 'status',
  value: z.unknown(),
  run: async () => helpMessage(exportCommand),
});
