import { z } from 'zod';
import type { ButtonParts } from '../../slack/blocks.ts';

export const statusActions = { details: 'status.details', audit: 'status.audit' } as const;

/** Neither carries anything: each looks at how things are when it is clicked. */
export const statusButton = z.object({});

export const detailsButton: ButtonParts = {
  label: 'Details',
  action: statusActions.details,
  value: '{}',
};

export const auditButton: ButtonParts = { label: 'Audit log', action: statusActions.audit, value: '{}' };
