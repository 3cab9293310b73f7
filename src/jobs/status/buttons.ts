import { z } from 'zod';
import type { ButtonParts } from '../../slack/blocks.ts';

export const statusActions = { details: 'status.details', audit: 'status.audit' } as const;

/** The buttons carry no value: each click reads the present state. */
export const statusButton = z.object({});

export const detailsButton: ButtonParts = {
  label: 'Details',
  action: statusActions.details,
  value: '{}',
};

export const auditButton: ButtonParts = { label: 'Audit log', action: statusActions.audit, value: '{}' };
